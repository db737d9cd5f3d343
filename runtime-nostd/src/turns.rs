//! Giving other tasks a turn while a model runs.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

/// A future that is pending once: the executor runs whatever else is ready before it goes on here.
///
/// It wakes its task at once and works on every executor, Embassy's and RTIC's among them. `invoke_async` of a model awaits one between
/// steps.
#[must_use = "futures do nothing unless they are awaited"]
pub fn yield_now() -> YieldNow {
    YieldNow { yielded: false }
}

/// See [`yield_now`].
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct YieldNow {
    yielded: bool,
}

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.yielded {
            return Poll::Ready(());
        }
        self.yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}
