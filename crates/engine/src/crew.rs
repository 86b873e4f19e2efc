//! Threads that borrow from who starts them, and may be left behind in a call that the device does not end.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::io;
use std::marker::PhantomData;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How often threads are looked at that are to end.
const PAUSE: Duration = Duration::from_millis(1);

/// Where a thread leaves a `T` while it is in a call that may never end, so that others can go on without the thread.
#[derive(Debug)]
pub(crate) struct Deposit<T>(Mutex<DepositState<T>>);

#[derive(Debug)]
struct DepositState<T> {
    /// How many calls there have been.
    calls: u64,
    left: Option<T>,
    is_taken: bool,
}

impl<T> Default for Deposit<T> {
    fn default() -> Self {
        Self(Mutex::new(DepositState { calls: 0, left: None, is_taken: false }))
    }
}

impl<T> Deposit<T> {
    fn state(&self) -> MutexGuard<'_, DepositState<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Carries out `call`, and leaves a `T` here meanwhile. Where that has been taken this never returns: nobody waits for the
    /// thread any more, and what it has borrowed may be gone.
    pub fn during<R>(&self, left: T, call: impl FnOnce() -> R) -> (T, R) {
        {
            let mut state = self.state();
            state.calls += 1;
            state.left = Some(left);
        }
        let done = call();
        let left = self.state().left.take();
        match left {
            Some(left) => (left, done),
            None => loop {
                thread::park();
            },
        }
    }

    /// Takes what a thread has left, if it is in a call and `is_overdue` says so of the call's number: the thread is left
    /// behind.
    pub fn take_if(&self, is_overdue: impl FnOnce(u64, &T) -> bool) -> Option<T> {
        let mut state = self.state();
        let calls = state.calls;
        let left = state.left.take_if(|left| is_overdue(calls, left))?;
        state.is_taken = true;
        Some(left)
    }

    fn is_taken(&self) -> bool {
        self.state().is_taken
    }
}

/// Whether a thread has ended, or was left behind.
type IsGone = Box<dyn Fn() -> bool>;

/// Threads that may borrow what outlives the [`crew`].
pub(crate) struct Crew<'scope, 'env: 'scope> {
    members: RefCell<Vec<IsGone>>,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// A thread of a crew.
pub(crate) struct CrewThread<R> {
    thread: Arc<JoinHandle<()>>,
    result: Arc<Mutex<Option<thread::Result<R>>>>,
}

/// Has `work` start threads; returns when each of them has ended or was left behind.
pub(crate) fn crew<'env, R>(work: impl for<'scope> FnOnce(&'scope Crew<'scope, 'env>) -> R) -> R {
    /// Waits also where `work` panics.
    struct Wait<'c, 'scope, 'env>(&'c Crew<'scope, 'env>);
    impl Drop for Wait<'_, '_, '_> {
        fn drop(&mut self) {
            while !self.0.members.borrow().iter().all(|is_gone| is_gone()) {
                thread::sleep(PAUSE);
            }
        }
    }
    let crew = Crew { members: RefCell::default(), scope: PhantomData, env: PhantomData };
    let _wait = Wait(&crew);
    work(&crew)
}

impl<'scope> Crew<'scope, '_> {
    /// Starts a thread that has this deposit.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn spawn<T: Send + 'static, R: Send + 'static>(
        &'scope self,
        name: String,
        deposit: Arc<Deposit<T>>,
        work: impl FnOnce() -> R + Send + 'scope,
    ) -> io::Result<CrewThread<R>> {
        let result = Arc::new(Mutex::new(None));
        let ended = Arc::clone(&result);
        let life = move || {
            let done = panic::catch_unwind(AssertUnwindSafe(work));
            *ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
        };
        // SAFETY: `crew` does not return before this thread has ended or its deposit is taken. What `work` borrows outlives
        // that. A deposit is taken only while its thread is in `Deposit::during`, which then never returns, so that the
        // thread touches nothing borrowed any more; the call itself uses what the thread owns.
        let thread = Arc::new(unsafe { thread::Builder::new().name(name).spawn_unchecked(life) }?);
        let watched = Arc::clone(&thread);
        self.members.borrow_mut().push(Box::new(move || watched.is_finished() || deposit.is_taken()));
        Ok(CrewThread { thread, result })
    }
}

impl<R> CrewThread<R> {
    /// What came of it, once, when it has ended; a panic goes on here.
    pub fn ended(&self) -> Option<R> {
        if !self.thread.is_finished() {
            return None;
        }
        let result = self.result.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(result.unwrap_or_else(|panic| panic::resume_unwind(panic)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn threads_borrow_and_have_ended_when_the_crew_returns() {
        let mut numbers = [1, 2, 3];
        let sum = crew(|crew| {
            let threads: Vec<_> = numbers
                .iter_mut()
                .map(|number| {
                    let deposit = Arc::new(Deposit::<()>::default());
                    crew.spawn("a".to_owned(), deposit, move || std::mem::replace(number, 0)).unwrap()
                })
                .collect();
            threads
                .iter()
                .map(|thread| {
                    loop {
                        match thread.ended() {
                            Some(number) => break number,
                            None => thread::yield_now(),
                        }
                    }
                })
                .sum::<i32>()
        });
        assert_eq!((sum, numbers), (6, [0; 3]));
    }

    #[test]
    fn a_thread_in_a_call_that_does_not_end_is_left_behind_with_what_it_had_left() {
        let (end, ends) = channel::<()>();
        let (begin, begins) = channel();
        let deposit = Arc::new(Deposit::default());
        let taken = crew(|crew| {
            let own = Arc::clone(&deposit);
            let call = move || {
                begin.send(()).unwrap();
                ends.recv()
            };
            let thread = crew.spawn("b".to_owned(), Arc::clone(&deposit), move || own.during(7, call).1).unwrap();
            begins.recv().unwrap();
            assert_eq!(deposit.take_if(|calls, left| calls > 1 || *left > 7), None, "it is not overdue");
            let taken = deposit.take_if(|calls, left| (calls, *left) == (1, 7));
            assert!(thread.ended().is_none());
            taken
        });
        assert_eq!(taken, Some(7));
        // The call ends after all, and the thread touches nothing any more.
        end.send(()).unwrap();
        assert_eq!(deposit.take_if(|_, _| true), None);
    }
}
