//! The one observer of events, set by the program and read by generated code.
#![allow(unsafe_code)]

use crate::events::Observer;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

static OBSERVER: AtomicPtr<Observer> = AtomicPtr::new(ptr::null_mut());

/// Makes that the observer, or nobody.
pub(crate) fn set(observer: Option<&'static Observer>) {
    let observer = observer.map_or(ptr::null(), ptr::from_ref);
    // Loads and stores are all that cores without atomic exchange have, and all that is needed.
    OBSERVER.store(observer.cast_mut(), Ordering::Release);
}

/// The observer, if there is one.
#[inline]
pub(crate) fn get() -> Option<&'static Observer> {
    // SAFETY: the pointer is null or comes from a `&'static Observer`; it is never written through, and what it points to is `Sync`,
    // being two functions.
    unsafe { OBSERVER.load(Ordering::Acquire).cast_const().as_ref() }
}
