//! The thread that answers.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use drive::Device;

use crate::AttachError;
use crate::port::Port;
use crate::serve::Server;

/// A drive that is not served any more, and how that ended.
pub type ServeResult = (Device, Result<(), AttachError>);

/// A thread that serves whenever it is told to. It is one thread for all of that, because a queue of the kernel's may belong
/// to the one that used it first.
pub struct Answering<P: Port> {
    tasks: Sender<ServeTask<P>>,
    thread: JoinHandle<Option<ServeResult>>,
}

/// What the thread is to do, until it is told to stop.
enum ServeTask<P: Port> {
    /// To answer everything after the same time, and give the server back with how that ended.
    Echo(Server<P>, Arc<AtomicBool>, Sender<(Server<P>, Result<(), AttachError>)>),
    /// To answer as the drive does, and end.
    Serve(Server<P>, Arc<AtomicBool>),
}

impl<P: Port<Name: Send> + Send + 'static> Answering<P> {
    /// A thread that has nothing to do yet.
    pub fn new() -> Self {
        let (tasks, told) = channel();
        let thread = thread::Builder::new().name("assay-attach".to_owned()).spawn(move || answer(&told));
        Self { tasks, thread: thread.expect("a thread can be started") }
    }

    /// Has it answer everything after the same time until `stop` is set; what the server is received by then.
    pub fn echo(&self, server: Server<P>, stop: Arc<AtomicBool>) -> Receiver<(Server<P>, Result<(), AttachError>)> {
        let (back, returned) = channel();
        self.tell(ServeTask::Echo(server, stop, back));
        returned
    }

    /// Has it answer as the drive does until `stop` is set, and then end.
    pub fn serve(self, server: Server<P>, stop: Arc<AtomicBool>) -> JoinHandle<Option<ServeResult>> {
        self.tell(ServeTask::Serve(server, stop));
        self.thread
    }

    fn tell(&self, task: ServeTask<P>) {
        assert!(self.tasks.send(task).is_ok(), "the thread waits for tasks until it has served");
    }
}

/// Does what it is told; what it served at last, if it was told to.
fn answer<P: Port>(told: &Receiver<ServeTask<P>>) -> Option<ServeResult> {
    wake_in_time();
    loop {
        match told.recv().ok()? {
            ServeTask::Echo(mut server, stop, back) => {
                let echoed = server.echo(&stop);
                // Nobody may be interested any more.
                back.send((server, echoed)).ok();
            }
            ServeTask::Serve(mut server, stop) => {
                let served = server.serve(&stop);
                return Some((server.into_drive(), served));
            }
        }
    }
}

/// The kernel's own allowance for the end of a sleep is 50 µs; where it cannot be had, answers are later by that.
fn wake_in_time() {
    rustix::thread::set_current_timer_slack(NonZeroU64::new(1)).ok();
}
