//! The rings of the machine that is connected, which several threads look at.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::event::{EventfdFlags, eventfd};
use vhost_user_backend::{VringRwLock, VringT};
use virtio_queue::{DescriptorChain, QueueT};
use vm_memory::{GuestAddressSpace, GuestMemoryAtomic, GuestMemoryLoadGuard, GuestMemoryMmap};

/// The memory of a machine.
pub type GuestMemory = GuestMemoryAtomic<GuestMemoryMmap>;
/// A request in the memory of a machine.
pub type Chain = DescriptorChain<GuestMemoryLoadGuard<GuestMemoryMmap>>;

/// How long a ring that is to stop waits for its requests in flight. A drive answers sooner than that.
const PATIENCE: Duration = Duration::from_secs(30);

/// How much the data of writes in flight may take of this machine's memory before no more requests are taken.
const MEMORY_MAX: u64 = 64 << 20;

/// The rings of the machine that is connected, and what of them is in flight.
pub struct Rings {
    state: Mutex<RingState>,
    /// What the writes in flight hold, those of machines that have left included.
    held: Arc<AtomicU64>,
    /// Told each time that a ring has nothing in flight any more.
    empty: Condvar,
    /// Written to when there may be something in a ring.
    bell: OwnedFd,
}

#[derive(Default)]
struct RingState {
    machine: u64,
    memory: Option<GuestMemory>,
    rings: Vec<VringRwLock>,
    in_flight: Vec<usize>,
    turn: usize,
}

/// What a request is answered by.
pub struct RingSlot {
    machine: u64,
    ring: usize,
    /// The request.
    pub chain: Chain,
    /// What it holds in memory, of all that is held.
    bytes: u64,
    held: Arc<AtomicU64>,
}

impl RingSlot {
    /// Notes that it holds so much in memory, until it is dropped.
    pub fn holds(&mut self, bytes: u64) {
        self.bytes += bytes;
        self.held.fetch_add(bytes, Ordering::Relaxed);
    }
}

impl Drop for RingSlot {
    fn drop(&mut self) {
        self.held.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Rings {
    /// None, until a machine connects.
    ///
    /// # Errors
    /// If the kernel has no event for it.
    pub fn new() -> io::Result<Self> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { state: Mutex::default(), held: Arc::default(), empty: Condvar::new(), bell })
    }

    /// What can be read from when there may be something in a ring.
    pub fn bell(&self) -> &OwnedFd {
        &self.bell
    }

    /// Begins with another machine, or with none. What is in flight of the last one is not answered any more.
    pub fn renew(&self) {
        let mut state = self.state();
        *state = RingState { machine: state.machine + 1, ..RingState::default() };
        self.empty.notify_all();
    }

    /// Notes where the machine's memory is.
    pub fn remember(&self, memory: GuestMemory) {
        self.state().memory = Some(memory);
    }

    /// Has the server look at these.
    pub fn ring(&self, rings: &[VringRwLock]) {
        let mut state = self.state();
        if state.rings.is_empty() {
            (state.rings, state.in_flight) = (rings.to_vec(), vec![0; rings.len()]);
        }
        drop(state);
        // It is full only if it was rung before.
        rustix::io::write(&self.bell, &1_u64.to_ne_bytes()).ok();
    }

    /// Notes that the bell was heard.
    pub fn heard(&self) {
        rustix::io::read(&self.bell, &mut [0_u8; 8]).ok();
    }

    /// Waits until nothing of a ring that was stopped is in flight.
    pub fn drain(&self, ring: usize) {
        let busy = |state: &mut RingState| state.in_flight.get(ring).is_some_and(|count| *count > 0);
        drop(self.empty.wait_timeout_while(self.state(), PATIENCE, busy));
    }

    /// The next request in any ring; none if there is none, or so much is in flight that it has to wait for an answer.
    pub fn next(&self) -> Option<RingSlot> {
        if self.held.load(Ordering::Relaxed) >= MEMORY_MAX {
            return None;
        }
        let mut state = self.state();
        let memory = state.memory.as_ref()?.memory();
        for _ in 0..state.rings.len() {
            let ring = (state.turn + 1) % state.rings.len();
            state.turn = ring;
            let mut held = state.rings[ring].get_mut();
            // A machine may offer the same request again and again, without waiting for its answer.
            let has_room = state.in_flight[ring] < usize::from(held.get_queue().size());
            let runs = has_room && held.is_enabled() && held.get_queue().ready();
            let chain = runs.then(|| held.get_queue_mut().pop_descriptor_chain(memory.clone())).flatten();
            drop(held);
            if let Some(chain) = chain {
                state.in_flight[ring] += 1;
                return Some(RingSlot { machine: state.machine, ring, chain, bytes: 0, held: Arc::clone(&self.held) });
            }
        }
        None
    }

    /// Gives a request back, of which `write` writes the answer into the machine's memory and says how much that was.
    pub fn give_back(&self, place: &RingSlot, write: impl FnOnce(&Chain) -> u32) {
        let mut state = self.state();
        if state.machine != place.machine {
            return;
        }
        let written = write(&place.chain);
        let ring = &state.rings[place.ring];
        // A machine that has broken its rings hears nothing.
        if ring.add_used(place.chain.head_index(), written).is_ok() && ring.needs_notification().unwrap_or(true) {
            ring.signal_used_queue().ok();
        }
        state.in_flight[place.ring] -= 1;
        if state.in_flight[place.ring] == 0 {
            self.empty.notify_all();
        }
    }

    fn state(&self) -> MutexGuard<'_, RingState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
