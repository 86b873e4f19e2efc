//! The clones of a job.

use block::Bytes;
use workload::BYTES_MAX;

use super::super::Notice;
use super::job::ImportedJob;

/// The most clones of a job that are made jobs of their own.
const CLONES_MAX: u32 = 64;
/// The most jobs of which clones are made jobs.
const JOBS_MAX: usize = 4096;

/// What becomes of the clones of a job that can be one job with several workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clones {
    /// They are one job.
    Together,
    /// Each is a job of its own, with its own file where fio gives it one, unless the job asks for figures of the group.
    Apart,
}

impl Clones {
    /// Adds a job with its clones.
    pub(super) fn add(self, mut job: ImportedJob, jobs: &mut Vec<ImportedJob>, notices: &mut Vec<Notice>) {
        let workers = job.workload.workers;
        let sequential = !job.workload.pattern.is_random();
        if workers < 2 {
            return jobs.push(job);
        }
        let side_by_side = sequential && job.increment > Bytes::ZERO && job.length == Some(job.increment);
        let own_files = job.clone_files.is_some();
        let all = |each: Bytes| Bytes::new(each.get().saturating_mul(u64::from(workers)).min(BYTES_MAX.get()));
        match self {
            // In fio all begin at the start of what they share; the workers of one job would share it out.
            Self::Apart => {}
            Self::Together if side_by_side || (own_files && job.increment == Bytes::ZERO) => {
                job.workload.size = job.length.map(all);
                return jobs.push(job);
            }
            Self::Together if !sequential && job.increment == Bytes::ZERO => return jobs.push(job),
            Self::Together => {}
        }
        let is_group = job.section.option("group_reporting").is_some();
        if self == Self::Apart && is_group && !own_files && !sequential && job.increment == Bytes::ZERO {
            return jobs.push(job);
        }
        self.each(&job, jobs, notices);
    }

    /// Makes each clone a job, which begins so much further on.
    fn each(self, job: &ImportedJob, jobs: &mut Vec<ImportedJob>, notices: &mut Vec<Notice>) {
        let workers = job.workload.workers;
        if workers > CLONES_MAX || jobs.len() > JOBS_MAX {
            let given = job.section.option("offset_increment").or(job.section.option("numjobs"));
            notices.extend(given.map(|given| {
                given.lost(format!("of more than {CLONES_MAX} clones, all share one file and its range out"))
            }));
            return jobs.push(job.clone());
        }
        // fio numbers offsets downward, and a clone finds the file as long as those before have made it.
        // Source: fio 3.33, `init.c`, `add_job`, `subjob_number`.
        let mut reach = job.extent.reach;
        for clone in 0..workers {
            let mut one = job.clone();
            let has_own = self == Self::Apart && job.clone_files.is_some();
            let begin = job.start_of(if self == Self::Apart && clone > 0 { workers - clone } else { clone });
            if begin > BYTES_MAX {
                let given = job.section.option("offset_increment").expect("it is what moves the clones apart");
                return notices.push(given.bad(format!("clone {clone} would begin beyond 1 EiB; give a smaller one")));
            }
            one.workload.workers = 1;
            match one.workload.replay {
                None => {
                    one.extent.reach = reach;
                    one.lay(begin);
                    reach = reach.max(one.end()).filter(|_| !has_own);
                }
                Some(_) => one.workload.offset = begin,
            }
            // The first waits, and the others begin with it.
            one.stonewall &= clone == 0;
            one.name = format!("{}-{}", job.name, clone + 1);
            if let Some(files) = job.clone_files.as_ref().filter(|_| self == Self::Apart) {
                one.file = files.replace("$jobnum", &clone.to_string());
            }
            jobs.push(one);
        }
    }
}
