//! Published reviews, repeated in virtual time.

mod carry;
mod state;
mod tails;

pub use ::plan::replicate::*;
pub(crate) use carry::carry_out;
pub use carry::replicate;
pub use tails::{QosRequest, replicate_qos};
