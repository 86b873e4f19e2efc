//! What a device has against a workload, whatever is on it.

use host::BlockDevice;
use workload::Workload;

use crate::part::Part;
use crate::{IoEngine, RealError, Target};

impl Target {
    /// Whether a workload can be carried out on devices that take commands or have zones, in the way that was asked for.
    ///
    /// # Errors
    /// With what is in the way.
    pub fn check(&self, workload: &Workload) -> Result<(), RealError> {
        self.check_submission()?;
        if (self.takes_commands() || self.zoned().is_some())
            && let Some(found) = workload.unfit(self.block())
        {
            return Err(RealError::NoWholeBlocks { found, unit: self.block() });
        }
        self.check_length(workload)?;
        self.check_zones(workload)
    }

    /// Whether requests can be handed over as was asked for.
    fn check_submission(&self) -> Result<(), RealError> {
        let path = |part: &Part| part.path().to_owned();
        let (engine, hipri) = (self.submission().engine, self.submission().hipri);
        for part in self.parts() {
            let is_polled = || part.block_device().is_some_and(BlockDevice::is_polled);
            match (engine, part.commands.is_some()) {
                (_, commands) if commands != self.takes_commands() => {
                    let commanded = self.parts().iter().find(|part| part.commands.is_some());
                    return Err(RealError::CommandsBeside { path: path(commanded.unwrap_or(part)) });
                }
                (IoEngine::UringCommands, false) => {
                    let instead = part.block_device().and_then(BlockDevice::generic);
                    return Err(RealError::NoCommands { path: path(part), instead });
                }
                (IoEngine::Psync, true) => return Err(RealError::OnlyCommands { path: path(part) }),
                // A block device refuses by itself; a command is waited for without poll queues too.
                (_, true) if hipri && !is_polled() => return Err(RealError::NoPollQueues { path: path(part) }),
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether the longest request is no longer than a command may be.
    fn check_length(&self, workload: &Workload) -> Result<(), RealError> {
        let found = workload.block_max();
        for part in self.parts().iter().filter(|part| part.commands.is_some() && !workload.pattern.trims()) {
            let [command, append] = part.block_device().map_or([None; 2], BlockDevice::longest_requests);
            let append = append.filter(|_| workload.zoned.append && workload.pattern.changes_data());
            if let Some(max) = command.into_iter().chain(append).min().filter(|max| found > *max) {
                return Err(RealError::CommandTooLong { found, max, path: part.path().to_owned() });
            }
        }
        Ok(())
    }

    fn check_zones(&self, workload: &Workload) -> Result<(), RealError> {
        let Some((part, _)) = self.zoned() else { return Ok(()) };
        let path = part.path().to_owned();
        match () {
            () if self.count() > 1 => Err(RealError::ZonesBeside { path }),
            () if workload.changes_data() && !self.direct() => Err(RealError::ZonesBuffered { path }),
            () if workload.verify.stamps => Err(RealError::ZonesVerified { path }),
            () => Ok(()),
        }
    }
}
