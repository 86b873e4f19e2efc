//! A simulated drive by itself, for programs that have a clock of their own.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use attach::{state_from_bytes, state_to_bytes};
use block::{Bytes, Lba, Nanos, Op, Request, SECTOR, Tag};
use drive::preset::Preset;
use drive::{Device, Drive as _};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::error::{failed, refused};
use crate::states::preset;

/// The last time that can be asked for, in nanoseconds: 146 years, which leaves room for what a request takes.
const TIME_MAX: u64 = 1 << 62;

/// The names of the simulated drives that come with assay, rigs last.
#[pyfunction]
pub fn drives() -> Vec<String> {
    Preset::all().map(|preset| preset.name).collect()
}

/// The answer to a request.
///
/// `tag`: its name. `at`: when the host learnt of it, in nanoseconds of the drive's time. `ok`: whether it was done.
/// `status`: `success`, or why not.
#[pyclass(module = "assay", frozen, get_all)]
pub struct Completion {
    tag: u32,
    at: u64,
    ok: bool,
    status: String,
}

#[pymethods]
impl Completion {
    fn __repr__(&self) -> String {
        let Self { tag, at, status, .. } = self;
        format!("Completion(tag={tag}, at={at}, status={status:?})")
    }
}

/// A simulated drive that a program of yours asks, in a time of its own.
///
/// `Drive("x25-m?spare=12%")` is a new drive; the name is that of `sim:` targets. All times are nanoseconds of virtual time
/// since it was made, all sectors are of 512 bytes. Nothing happens unless it is asked: `submit` hands over a request at a
/// time, `complete` takes the earliest answer. The same calls give the same answers, bit for bit, on every machine. It
/// can be copied and pickled, whatever it is doing.
#[pyclass(module = "assay")]
pub struct Drive {
    preset: Preset,
    device: Device,
    reached: Nanos,
    in_flight: HashSet<u32>,
    /// Whether it was left in the middle of something.
    is_broken: bool,
}

impl Drive {
    /// Has the drive do something; a mistake of its own ends its life, and not the program's.
    fn shielded<T>(&mut self, py: Python<'_>, act: impl FnOnce(&mut Device) -> T) -> PyResult<T> {
        if self.is_broken {
            return Err(failed(py, "the drive failed before by a mistake of assay's; make a new one"));
        }
        catch_unwind(AssertUnwindSafe(|| act(&mut self.device))).map_err(|_| {
            self.is_broken = true;
            failed(py, "the drive failed by a mistake of assay's, which is told on standard error")
        })
    }

    /// Refuses a time before one that the drive has reached.
    fn not_before(&self, py: Python<'_>, now: u64) -> PyResult<Nanos> {
        if now > TIME_MAX {
            return Err(refused(
                py,
                format!("{now} ns is more than the {TIME_MAX} ns, 146 years, that a drive's time goes to"),
            ));
        }
        let now = Nanos::from_nanos(now);
        if now >= self.reached {
            return Ok(now);
        }
        let (now, reached) = (now.as_nanos(), self.reached.as_nanos());
        Err(refused(
            py,
            format!("{now} ns is before {reached} ns, which the drive has reached; time does not run backwards"),
        ))
    }

    /// The request, if it is one that the drive can be given.
    fn request(&self, py: Python<'_>, kind: &str, lba: u64, sectors: u32) -> PyResult<Request> {
        let op = match kind {
            "read" => Op::Read,
            "write" => Op::Write,
            "trim" => Op::Trim,
            "flush" => return Ok(Request::FLUSH),
            _ => return Err(refused(py, format!("`{kind}` is no kind of request; give read, write, trim or flush"))),
        };
        let shape = self.device.shape();
        let (block, end) = (shape.block.get() / SECTOR.get(), Lba::at(shape.capacity).get());
        if sectors == 0 || !lba.is_multiple_of(block) || !u64::from(sectors).is_multiple_of(block) {
            return Err(refused(
                py,
                format!(
                    "{sectors} sectors from sector {lba} are no whole blocks; give multiples of {block} sectors, at least {block}"
                ),
            ));
        }
        if lba.checked_add(u64::from(sectors)).is_none_or(|last| last > end) {
            return Err(refused(
                py,
                format!("{sectors} sectors from sector {lba} end beyond the drive's {end} sectors"),
            ));
        }
        Ok(Request::new(op, Lba::new(lba), sectors))
    }

    fn made(preset: Preset) -> Self {
        let device = preset.build();
        Self { preset, device, reached: Nanos::ZERO, in_flight: HashSet::new(), is_broken: false }
    }
}

#[pymethods]
impl Drive {
    #[new]
    fn new(py: Python<'_>, name: &str) -> PyResult<Self> {
        let name = name.strip_prefix("sim:").unwrap_or(name);
        let preset = preset(name).map_err(|failure| crate::error::raised(py, &failure))?;
        Ok(py.detach(|| Self::made(preset)))
    }

    /// Its name, with its changes.
    #[getter]
    fn name(&self) -> &str {
        &self.preset.name
    }

    /// How much the host can store, in bytes.
    #[getter]
    fn capacity(&self) -> u64 {
        self.device.shape().capacity.get()
    }

    /// The smallest request, in bytes.
    #[getter]
    fn block(&self) -> u64 {
        self.device.shape().block.get()
    }

    /// How many commands it takes at once; more wait in the host.
    #[getter]
    fn queue_depth(&self) -> u32 {
        self.device.shape().queue_depth
    }

    /// The time that it has reached, in nanoseconds: nothing can be submitted before.
    #[getter]
    fn now(&self) -> u64 {
        self.reached.max(self.device.now()).as_nanos()
    }

    /// How many requests are in flight.
    #[getter]
    fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Hands over a request at `now` (ns), under a `tag` of yours (0 to 2³²−1) that none in flight has. `kind` is read, write,
    /// trim or flush; `lba` and `sectors` count 512 bytes and are whole blocks; a flush has neither. `fua`: the write
    /// must survive a loss of power before it completes. `entropy`: what compression leaves of the data, in percent.
    #[pyo3(signature = (now, tag, kind, lba=0, sectors=0, *, fua=false, entropy=100))]
    #[allow(clippy::too_many_arguments, reason = "this is what a request is")]
    fn submit(
        &mut self,
        py: Python<'_>,
        now: u64,
        tag: u32,
        kind: &str,
        lba: u64,
        sectors: u32,
        fua: bool,
        entropy: u8,
    ) -> PyResult<()> {
        let now = self.not_before(py, now)?;
        let request = self.request(py, kind, lba, sectors)?;
        if entropy > 100 {
            return Err(refused(py, format!("entropy is {entropy} %; give 0 to 100")));
        }
        if !self.in_flight.insert(tag) {
            return Err(refused(
                py,
                format!("a request with the tag {tag} is in flight; give another, or take its answer"),
            ));
        }
        self.reached = now;
        self.shielded(py, |device| device.submit(now, Tag(tag), Request { durable: fua, entropy, ..request }))
    }

    /// Before this time (ns) nothing completes unless something more is submitted; `None` if nothing is in flight.
    fn next_event(&self) -> Option<u64> {
        self.device.next_event().map(Nanos::as_nanos)
    }

    /// Takes the earliest completion at or before `until` (ns), or the earliest of all. `None` if there is none; the drive
    /// has then reached `until`, and nothing can be submitted before.
    #[pyo3(signature = (until=None))]
    fn complete(&mut self, py: Python<'_>, until: Option<u64>) -> PyResult<Option<Completion>> {
        let until = match until {
            Some(until) => self.not_before(py, until)?,
            // Nothing would ever come, and all time would have passed.
            None if self.in_flight.is_empty() => return Ok(None),
            None => Nanos::MAX,
        };
        let Some(done) = self.shielded(py, |device| device.complete(until))? else {
            self.reached = until;
            return Ok(None);
        };
        self.reached = self.reached.max(done.at);
        self.in_flight.remove(&done.tag.0);
        let (tag, at, ok) = (done.tag.0, done.at.as_nanos(), done.status.is_success());
        Ok(Some(Completion { tag, at, ok, status: done.status.to_string() }))
    }

    /// What it has done since it was made: requests, data in bytes, flash pages and blocks, times in nanoseconds.
    /// `write_amplification` is `None` where the host wrote nothing or there is no flash.
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counters = self.device.counters();
        let fields = serde_json::to_value(counters).map_err(|error| failed(py, error))?;
        let all = PyDict::new(py);
        for (name, value) in fields.as_object().into_iter().flatten() {
            match name.as_str() {
                "requests" => {
                    let kinds = ["reads", "writes", "trims", "flushes"];
                    kinds.iter().zip(counters.requests).try_for_each(|(kind, count)| all.set_item(kind, count))?;
                }
                name => all.set_item(name, value.as_u64().unwrap_or_default())?,
            }
        }
        all.set_item("write_amplification", counters.write_amplification())?;
        Ok(all)
    }

    /// Forgets all data, as a secure erase does. Nothing may be in flight.
    fn purge(&mut self, py: Python<'_>) -> PyResult<()> {
        self.at_rest(py, "purged")?;
        self.shielded(py, Device::purge)
    }

    /// Brings it behind a sequential write of its whole capacity in requests of `block` bytes, in hardly any time of its
    /// own. Nothing may be in flight. Only flash and memory that is written in place can.
    #[pyo3(signature = (block=1_048_576))]
    fn fill(&mut self, py: Python<'_>, block: u64) -> PyResult<()> {
        self.at_rest(py, "filled")?;
        let end = Lba::at(self.device.shape().capacity);
        let unit = self.device.shape().block;
        if block == 0 || !block.is_multiple_of(unit.get()) {
            return Err(refused(py, format!("block is {block} B; give a multiple of {unit}")));
        }
        if !self.device.can_fill(Lba::new(0), end) {
            return Err(refused(py, format!("{} cannot be filled at once; write to it", self.preset.name)));
        }
        self.shielded(py, |device| device.fill(Lba::new(0), end, Bytes::new(block), 100))?;
        self.reached = self.reached.max(self.device.now());
        Ok(())
    }

    /// Its whole state as bytes, whatever it is doing.
    fn save<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let mut bytes = py.detach(|| state_to_bytes(&self.preset.name, &self.device));
        bytes.extend(self.reached.as_nanos().to_le_bytes());
        PyBytes::new(py, &bytes)
    }

    /// Goes on from a state that a drive of the same name and parameters saved. What is damaged or another drive's is
    /// refused, and changes nothing.
    ///
    /// The bytes may come from anywhere; they choose nothing but this drive's state.
    fn load(&mut self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        let (name, like) = (&self.preset.name, self.preset.build());
        let (state, reached) = state.split_last_chunk().unwrap_or((state, &[0; 8]));
        let device = py.detach(|| state_from_bytes(state, name, &like)).map_err(|error| refused(py, error))?;
        let reached = Nanos::from_nanos(u64::from_le_bytes(*reached)).max(device.now());
        // What is in flight is known by what a clone answers.
        let mut clone = device.clone();
        self.in_flight = std::iter::from_fn(|| clone.next_event().and_then(|_| clone.complete(Nanos::MAX)))
            .map(|done| done.tag.0)
            .collect();
        (self.reached, self.device, self.is_broken) = (reached, device, false);
        Ok(())
    }

    /// Another in the same state, which goes its own way from here.
    fn copy(&self) -> Self {
        let Self { preset, device, reached, in_flight, is_broken } = self;
        Self {
            preset: preset.clone(),
            device: device.clone(),
            reached: *reached,
            in_flight: in_flight.clone(),
            is_broken: *is_broken,
        }
    }

    fn __copy__(&self) -> Self {
        self.copy()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Self {
        self.copy()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let restore = py.import("assay._restore")?.getattr("drive")?;
        let arguments = (&self.preset.name, self.save(py)).into_pyobject(py)?;
        PyTuple::new(py, [restore, arguments.into_any()])
    }

    fn __repr__(&self) -> String {
        format!(
            "Drive({:?}): {}, {}, now {} ns, {} in flight",
            self.preset.name,
            self.preset.title,
            self.device.shape().capacity,
            self.now(),
            self.in_flight.len()
        )
    }
}

impl Drive {
    fn at_rest(&self, py: Python<'_>, what: &str) -> PyResult<()> {
        match self.in_flight.len() {
            0 => Ok(()),
            count => {
                Err(refused(py, format!("{count} requests are in flight; complete them before the drive is {what}")))
            }
        }
    }
}
