//! How plans are carried out, on simulated drives and on real ones, and how runs are read again.

pub mod calibrate;
pub mod conditioning;
mod counted;
mod error;
mod fit;
pub mod health;
mod level;
mod metered;
pub mod plan;
mod progress;
mod real;
mod recall;
pub mod replicate;
mod run_record;
mod session;
mod simulated;
mod state_cache;
mod subject;
mod traces;
mod variants;

pub(crate) use ::plan::cost;
pub use ::plan::{
    Asked, Aspect, DriveRecord, Finding, Group, Metric, Outcome, PointOutcome, Repeat, StepOutcome, Wear, compare,
    fleet, forecast, gate, import, wears,
};
pub use error::LabError;
pub use fit::{Checked, fits};
pub use host::power;
pub use host::{DeviceInfo, Environment, EraseError, FileSystem, ProgramError, PurgeMethod, Thermometer, Warmth};
pub use metered::Metered;
pub use progress::{Bar, Chart, Course, Last, News, Progress, Show, Snapshot, Speed, Tracker};
pub use real::Real;
pub use recall::{plan_of, recall};
pub use run_record::{Broken, RunRecord, now_ms};
pub use session::{Observers, Session, Silent, Watch};
pub use simulated::Simulated;
pub use state_cache::StateCache;
pub use subject::{Keep, LiveCallback, MeasureTask, Part, Repeats, Share, Subject};
pub use traces::{BUILTIN as BUILTIN_TRACE, TraceFileError, Traces};
pub use trial::{Better, Figure};
