//! Clips, cut from a stream: only samples that follow one another without a gap, and have one label.

use super::frames::Frame;

/// How a stream is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// At every change of the label.
    Labels,
    /// To pieces of so many bytes, from where the label begins.
    Pieces(usize),
    /// To pictures of so many bytes: the first begins with the stream.
    Pictures(usize),
}

/// Longest clip where only labels cut: it is written, and another begins.
const LONGEST: usize = 1 << 28;

/// Samples of one label without a gap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Clip {
    pub(super) label: String,
    pub(super) bytes: Vec<u8>,
}

/// What was lost, or is not kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Losses {
    /// Places where bytes are missing.
    pub(super) gaps: usize,
    /// How many bytes are missing there.
    pub(super) missing: u64,
    /// The firmware has begun anew.
    pub(super) restarts: usize,
    /// Clips with a label that a gap has cut before they were complete.
    pub(super) dropped: usize,
    /// Clips with a label that ended before they were complete.
    pub(super) unfinished: usize,
}

/// What a frame did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joined {
    /// It follows what was there.
    Follows,
    /// So many bytes are missing before it.
    Gap(u64),
    /// The firmware has begun anew.
    Restart,
}

/// Cuts a stream to clips.
#[derive(Debug)]
pub(super) struct Cutter {
    cut: Cut,
    /// Bytes of a sample of all channels: a clip begins and ends with a whole one.
    step: usize,
    /// From a second byte of the stream on: another label. In order.
    script: Vec<(u64, Option<String>)>,
    label: Option<String>,
    /// How many bytes the firmware has sent, as it says.
    at: Option<u64>,
    /// How many bytes went by here, with those that are missing.
    passed: u64,
    clip: Vec<u8>,
    pub(super) done: Vec<Clip>,
    pub(super) losses: Losses,
}

impl Cutter {
    /// `step`: bytes of a sample of all channels. `script`: labels from bytes of the stream on, in order.
    pub(super) fn new(
        cut: Cut,
        step: usize,
        label: Option<String>,
        script: Vec<(u64, Option<String>)>,
    ) -> Cutter {
        Cutter {
            cut,
            step: step.max(1),
            script,
            label,
            at: None,
            passed: 0,
            clip: Vec::new(),
            done: Vec::new(),
            losses: Losses::default(),
        }
    }

    /// How many bytes of the stream went by since the first one, with those that are missing.
    pub(super) fn passed(&self) -> u64 {
        self.passed
    }

    /// The label of what comes.
    pub(super) fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// From now on samples have that label, or none.
    pub(super) fn set_label(&mut self, label: Option<String>) {
        // Where only labels cut, the same label once more begins another clip.
        if self.label != label || self.cut == Cut::Labels {
            self.finish();
        }
        self.label = label;
    }

    /// Takes the elements of a frame.
    pub(super) fn push(&mut self, frame: &Frame) -> Joined {
        let joined = self.join(frame.sent);
        let mut bytes = frame.bytes.as_slice();
        while !bytes.is_empty() {
            let passed = self.passed();
            while self.script.first().is_some_and(|(from, _)| *from <= passed) {
                let (_, label) = self.script.remove(0);
                self.set_label(label);
            }
            let until = self.script.first().map_or(u64::MAX, |(from, _)| from - passed);
            let (now, later) = bytes.split_at(bytes.len().min(until.try_into().unwrap_or(usize::MAX)));
            self.keep(now);
            bytes = later;
        }
        joined
    }

    /// Ends the clip under way: the label does not go on.
    pub(super) fn finish(&mut self) {
        self.end(|losses| &mut losses.unfinished);
    }

    /// Where a frame lies in the stream.
    fn join(&mut self, sent: u32) -> Joined {
        let Some(at) = self.at else {
            self.at = Some(sent.into());
            return Joined::Follows;
        };
        // The count wraps; a gap is far smaller than that.
        let ahead = sent.wrapping_sub(at as u32);
        if ahead == 0 {
            return Joined::Follows;
        }
        self.interrupt();
        if ahead > u32::MAX / 2 {
            self.losses.restarts += 1;
            self.at = Some(sent.into());
            return Joined::Restart;
        }
        self.losses.gaps += 1;
        self.losses.missing += u64::from(ahead);
        self.passed += u64::from(ahead);
        self.at = Some(at + u64::from(ahead));
        Joined::Gap(ahead.into())
    }

    /// Samples before a gap and behind it are not in one clip.
    fn interrupt(&mut self) {
        self.end(|losses| &mut losses.dropped);
    }

    /// Completes a clip that only labels cut. Of any other, what is there is not kept, and counted.
    fn end(&mut self, counter: fn(&mut Losses) -> &mut usize) {
        match self.cut {
            Cut::Labels => self.complete(),
            Cut::Pieces(_) | Cut::Pictures(_) if !self.clip.is_empty() => {
                *counter(&mut self.losses) += 1;
                self.clip.clear();
            }
            Cut::Pieces(_) | Cut::Pictures(_) => {}
        }
    }

    /// Takes bytes of one label.
    fn keep(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let at = self.at.unwrap_or(0);
            let (step, begun) = (self.step, !self.clip.is_empty());
            let within = |length: usize| (at % length as u64) as usize;
            let (room, starts) = match self.cut {
                // The rest of a sample of which a channel is lost, or had another label.
                Cut::Labels | Cut::Pieces(_) if !begun && within(step) != 0 => (step - within(step), false),
                Cut::Labels => (LONGEST - LONGEST % step - self.clip.len(), true),
                Cut::Pieces(length) => (length - self.clip.len(), true),
                Cut::Pictures(length) => (length - within(length), within(length) == 0 || begun),
            };
            let (now, later) = bytes.split_at(bytes.len().min(room));
            bytes = later;
            self.at = Some(at + now.len() as u64);
            self.passed += now.len() as u64;
            // What comes before the first whole picture or sample is none.
            if self.label.is_some() && starts {
                self.clip.extend_from_slice(now);
                if now.len() == room {
                    self.complete();
                }
            }
        }
    }

    fn complete(&mut self) {
        let mut bytes = std::mem::take(&mut self.clip);
        bytes.truncate(bytes.len() - bytes.len() % self.step);
        if let Some(label) = self.label.clone().filter(|_| !bytes.is_empty()) {
            self.done.push(Clip { label, bytes });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::frames::Kind;
    use super::*;

    fn frame(sent: u32, bytes: impl IntoIterator<Item = u8>) -> Frame {
        let bytes = bytes.into_iter().collect();
        Frame { name: "s".into(), kind: Kind::U8, channels: 1, sent, bytes }
    }

    fn label(text: &str) -> Option<String> {
        Some(text.into())
    }

    /// Labels and the first and the last byte of each clip.
    fn clips(cutter: &Cutter) -> Vec<(&str, u8, u8)> {
        let clip = |clip: &'_ Clip| (clip.bytes[0], *clip.bytes.last().unwrap());
        cutter.done.iter().map(|c| (c.label.as_str(), clip(c).0, clip(c).1)).collect()
    }

    #[test]
    fn pieces_begin_with_their_label() {
        let mut cutter = Cutter::new(Cut::Pieces(4), 1, None, vec![]);
        cutter.push(&frame(0, 0..3));
        cutter.set_label(label("a"));
        cutter.push(&frame(3, 3..13));
        cutter.set_label(None);
        cutter.push(&frame(13, 13..20));
        cutter.set_label(label("b"));
        cutter.push(&frame(20, 20..24));
        assert_eq!(clips(&cutter), [("a", 3, 6), ("a", 7, 10), ("b", 20, 23)]);
        assert_eq!(cutter.losses, Losses { unfinished: 1, ..Losses::default() });
        assert_eq!(cutter.passed(), 24);
    }

    #[test]
    fn labels_alone_cut_whatever_length() {
        let mut cutter = Cutter::new(Cut::Labels, 1, label("a"), vec![]);
        cutter.push(&frame(0, 0..3));
        cutter.set_label(label("a"));
        cutter.push(&frame(3, 3..5));
        // A gap: two clips.
        assert_eq!(cutter.push(&frame(9, 9..11)), Joined::Gap(4));
        cutter.set_label(label("b"));
        cutter.push(&frame(11, 11..12));
        cutter.finish();
        assert_eq!(clips(&cutter), [("a", 0, 2), ("a", 3, 4), ("a", 9, 10), ("b", 11, 11)]);
        assert_eq!(cutter.losses, Losses { gaps: 1, missing: 4, ..Losses::default() });
    }

    #[test]
    fn a_gap_drops_the_piece_under_way() {
        let mut cutter = Cutter::new(Cut::Pieces(4), 1, label("a"), vec![]);
        cutter.push(&frame(u32::MAX - 1, 0..3));
        assert_eq!(cutter.push(&frame(1, 3..5)), Joined::Follows);
        assert_eq!(cutter.push(&frame(5, 7..12)), Joined::Gap(2));
        assert_eq!(cutter.push(&frame(0, 100..104)), Joined::Restart);
        assert_eq!(clips(&cutter), [("a", 0, 3), ("a", 7, 10), ("a", 100, 103)]);
        let losses = Losses { gaps: 1, missing: 2, restarts: 1, dropped: 2, unfinished: 0 };
        assert_eq!(cutter.losses, losses);
        assert_eq!(cutter.passed(), 3 + 2 + 2 + 5 + 4);
    }

    /// Three channels of a byte each: whatever is lost or cut, each clip begins with the first channel and ends with the last one.
    #[test]
    fn channels_stay_where_they_are() {
        for (cut, expected) in [
            (Cut::Labels, vec![("a", 0, 5), ("a", 12, 14), ("b", 18, 23)]),
            (Cut::Pieces(3), vec![("a", 0, 2), ("a", 3, 5), ("a", 12, 14), ("b", 18, 20), ("b", 21, 23)]),
        ] {
            let mut cutter = Cutter::new(cut, 3, label("a"), vec![]);
            cutter.push(&frame(0, 0..7));
            cutter.push(&frame(10, 10..16));
            cutter.set_label(label("b"));
            cutter.push(&frame(16, 16..25));
            cutter.finish();
            assert_eq!(clips(&cutter), expected);
        }
    }

    #[test]
    fn pictures_begin_where_the_stream_says() {
        let mut cutter = Cutter::new(Cut::Pictures(6), 1, label("a"), vec![]);
        // In the middle of the first picture; a line of the third is lost.
        cutter.push(&frame(2, 2..14));
        cutter.push(&frame(16, 16..30));
        assert_eq!(clips(&cutter), [("a", 6, 11), ("a", 18, 23), ("a", 24, 29)]);
        assert_eq!((cutter.losses.dropped, cutter.losses.missing), (1, 2));
        cutter.push(&frame(30, 30..33));
        cutter.set_label(label("b"));
        cutter.push(&frame(33, 33..42));
        assert_eq!(clips(&cutter)[3..], [("b", 36, 41)]);
        assert_eq!(cutter.losses.unfinished, 1);
    }

    #[test]
    fn a_script_changes_labels_within_a_frame() {
        let script = vec![(0, label("a")), (4, None), (6, label("b"))];
        let mut cutter = Cutter::new(Cut::Labels, 1, None, script);
        cutter.push(&frame(100, 0..5));
        cutter.push(&frame(105, 5..9));
        cutter.finish();
        assert_eq!(clips(&cutter), [("a", 0, 3), ("b", 6, 8)]);
    }
}
