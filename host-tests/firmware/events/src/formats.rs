//! All public types of the runtime have `defmt::Format`, or this does not compile. That it names all of them checks `host-tests/tests/events.rs`.

use kiln::{any, camera, events, frontend, kernels, post, record, sensor};

const _: fn() = || {
    formatted::<kiln::Again>();
    formatted::<kiln::Band>();
    formatted::<kiln::Crew>();
    formatted::<kiln::DType>();
    formatted::<kiln::Feed>();
    formatted::<kiln::Level>();
    formatted::<kiln::ModelInfo>();
    formatted::<kiln::TensorInfo>();
    formatted::<kiln::YieldNow>();

    formatted::<any::AnyError>();
    formatted::<any::Which>();

    formatted::<camera::Area<12, 12>>();
    formatted::<camera::Bayer<camera::Linear<12, 12>, 1, 24, 121>>();
    formatted::<camera::Bgr<camera::Gray8>>();
    formatted::<camera::Bgr888<camera::Pillow>>();
    formatted::<camera::Camera<camera::Linear<12, 12>, 1, 24>>();
    formatted::<camera::Filter>();
    formatted::<camera::Filtered<12, 12, 7, 7>>();
    formatted::<camera::Gray8>();
    formatted::<camera::Line<'static>>();
    formatted::<camera::Linear<12, 12>>();
    formatted::<camera::Mosaic<camera::OpenCv, 0, 0>>();
    formatted::<camera::Nearest<12, 12>>();
    formatted::<camera::OpenCv>();
    formatted::<camera::Pillow>();
    formatted::<camera::Rgb565<camera::OpenCv, true>>();
    formatted::<camera::Rgb888<camera::OpenCv>>();
    formatted::<camera::Source<camera::Gray8, camera::Area<12, 12>>>();
    formatted::<camera::View>();
    formatted::<camera::Yuv422<camera::OpenCv, false>>();

    formatted::<events::Layer>();
    formatted::<events::Name>();
    formatted::<events::Observer>();
    formatted::<events::Range>();

    formatted::<frontend::Frames<i16, 400, 160>>();

    formatted::<post::Anchor>();
    formatted::<post::BoxOrder>();
    formatted::<post::Detection>();
    formatted::<post::Detections<3>>();
    formatted::<post::Exponential<f32, 2>>();
    formatted::<post::Exponential<i16>>();
    formatted::<post::GridHead>();
    formatted::<post::Hysteresis>();
    formatted::<post::Labelled<f32>>();
    formatted::<post::Labels<2>>();
    formatted::<post::MovingAverage<u8, 5, 2>>();
    formatted::<post::Offsets>();
    formatted::<post::Ranked<i8>>();
    formatted::<post::Rect>();
    formatted::<post::SsdHead>();
    formatted::<post::StreamDetector<i8, 5, 2>>();
    formatted::<post::Variances>();

    formatted::<record::Stream>();

    formatted::<sensor::Biquads<2, 3>>();
    formatted::<sensor::Resampler<2, 3, 31, 3>>();
    formatted::<sensor::Units<3>>();

    formatted::<kernels::AddFloat>();
    formatted::<kernels::AddLinear>();
    formatted::<kernels::AddParams>();
    formatted::<kernels::Along>();
    formatted::<kernels::Broadcast>();
    formatted::<kernels::Choice>();
    formatted::<kernels::CompactConv>();
    formatted::<kernels::CompactDense>();
    formatted::<kernels::CompareParams>();
    formatted::<kernels::Conv>();
    formatted::<kernels::ComputedConv>();
    formatted::<kernels::Copy>();
    formatted::<kernels::DynamicLayer>();
    formatted::<kernels::FilterBlocks>();
    formatted::<kernels::FloatRequant>();
    formatted::<kernels::Gather>();
    formatted::<kernels::HalfRequant>();
    formatted::<kernels::UpperRequant>();
    formatted::<kernels::Waves>();
    formatted::<kernels::LogSoftmax>();
    formatted::<kernels::Lstm>();
    formatted::<kernels::MatMul>();
    formatted::<kernels::MeanLinear>();
    formatted::<kernels::MeanRows>();
    formatted::<kernels::MulFloat>();
    formatted::<kernels::MulParams>();
    formatted::<kernels::Noise>();
    formatted::<kernels::NoiseFloor>();
    formatted::<kernels::Pad>();
    formatted::<kernels::Pool>();
    formatted::<kernels::QuantizeLinear>();
    formatted::<kernels::Reduce>();
    formatted::<kernels::Requant>();
    formatted::<kernels::ScaledWeights>();
    formatted::<kernels::Rescale>();
    formatted::<kernels::Resize>();
    formatted::<kernels::Rounding>();
    formatted::<kernels::Scale>();
    formatted::<kernels::Sizes<1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1>>();
    formatted::<kernels::Stride>();

    // `heapless::Vec`: what `top_k` returns.
    let _ = |scores: &[i8; 4]| prints(&post::top_k::<i8, 2>(scores));
};

fn formatted<T: defmt::Format>() {}

fn prints<T: defmt::Format>(_: &T) {}
