//! What a virtual machine monitor is told of the device, and what it tells of the machine.

use std::io;
use std::sync::Arc;

use drive::Shape;
use vhost::vhost_user::message::{VhostUserProtocolFeatures, VhostUserVirtioFeatures};
use vhost_user_backend::{VhostUserBackend, VringRwLock};
use vmm_sys_util::epoll::EventSet;
use vmm_sys_util::event::{EventConsumer, EventFlag, EventNotifier, new_event_consumer_and_notifier};

use super::request::{FEATURES, QUEUES, config};
use super::rings::{GuestMemory, Rings};

/// Requests that may be in a ring; a monitor asks for fewer.
const RING: usize = 1024;
/// The interface as it is since version 1.
const VERSION_1: u64 = 1 << 32;

/// A drive as a monitor sees it.
pub struct Backend {
    rings: Arc<Rings>,
    shape: Shape,
}

impl Backend {
    /// A drive of this shape behind `rings`.
    pub fn new(rings: Arc<Rings>, shape: Shape) -> Self {
        Self { rings, shape }
    }
}

impl VhostUserBackend for Backend {
    type Bitmap = ();
    type Vring = VringRwLock;

    fn num_queues(&self) -> usize {
        usize::from(QUEUES)
    }

    fn max_queue_size(&self) -> usize {
        RING
    }

    fn features(&self) -> u64 {
        FEATURES | VERSION_1 | VhostUserVirtioFeatures::PROTOCOL_FEATURES.bits()
    }

    fn protocol_features(&self) -> VhostUserProtocolFeatures {
        VhostUserProtocolFeatures::CONFIG | VhostUserProtocolFeatures::MQ | VhostUserProtocolFeatures::REPLY_ACK
    }

    fn set_event_idx(&self, _: bool) {}

    fn get_config(&self, offset: u32, size: u32) -> Vec<u8> {
        // Fields of later versions are zero: they say that what they are about is not there.
        let fields = config(self.shape).into_iter().chain(std::iter::repeat(0));
        fields.skip(offset as usize).take(size as usize).collect()
    }

    fn update_memory(&self, memory: GuestMemory) -> io::Result<()> {
        self.rings.remember(memory);
        Ok(())
    }

    fn exit_event(&self, _: usize) -> Option<(EventConsumer, EventNotifier)> {
        new_event_consumer_and_notifier(EventFlag::NONBLOCK | EventFlag::CLOEXEC).ok()
    }

    fn stop_vring(&self, ring: u32) -> io::Result<()> {
        self.rings.drain(ring as usize);
        Ok(())
    }

    fn handle_event(&self, _: u16, _: EventSet, rings: &[VringRwLock], _: usize) -> io::Result<()> {
        self.rings.ring(rings);
        Ok(())
    }
}
