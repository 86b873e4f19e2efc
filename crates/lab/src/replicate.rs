//! Published reviews, repeated in virtual time.

mod carry;

pub use ::plan::replicate::*;
pub(crate) use carry::carry_out;
pub use carry::replicate;
