//! How much a trace may have, so that no file takes more memory than another.

use block::Nanos;

/// The longest line, of which far less makes sense.
pub(super) const LINE_MAX: u64 = 64 << 10;

/// The most volumes, and the longest name of one in bytes.
pub(super) const VOLUMES_MAX: usize = 1 << 16;
pub(super) const VOLUME_NAME_MAX: usize = 4096;

/// The longest that a trace may go on, which keeps all sums of its times far from overflow.
pub(super) const TIME_MAX: Nanos = Nanos::from_secs(100 * 365 * 86_400);

/// How many requests are put in order by their times: a trace of not more may be in any order.
pub(super) const WINDOW: usize = 1 << 19;

/// The most requests in flight at once that are followed.
pub(super) const IN_FLIGHT_MAX: usize = 1 << 20;

/// How many requests are kept in memory.
pub(super) const HELD_MAX: usize = 1 << 20;
