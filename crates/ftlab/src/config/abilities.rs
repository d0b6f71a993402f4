//! What dies can do beyond one operation on one plane at a time, and its cost.

use crate::nand::AddressRule;
use crate::options::Switch;
use crate::options::declare::options;
use crate::units::Nanos;

options! {
    /// Multi-plane commands: one operation serves commands for several planes of a die, if they
    /// wait for the die at the same time.
    pub struct MultiPlaneOptions at "nand.multi_plane" {
        /// Reads of several planes are sensed together.
        read: Switch = "off", source "default: the baseline of one plane at a time; see the part",
            applies_with "nand.planes_per_die" not "1";
        /// Each plane senses pages of its own at its own time, while other planes of its die sense others, and holds
        /// what it sensed in a register of its own. Programs and erases still occupy the whole die. Reads of
        /// different planes then need not meet, so `nand.multi_plane.read` is refused beside it.
        independent_reads: Switch = "off",
            source "default: the baseline of one plane at a time; on as parts with independent plane reads (IWL, AIPR)",
            applies_with "nand.planes_per_die" not "1";
        /// Programs of several planes run together.
        program: Switch = "off", source "default: the baseline of one plane at a time; see the part",
            applies_with "nand.planes_per_die" not "1";
        /// Erases of several planes run together.
        erase: Switch = "off", source "default: the baseline of one plane at a time; see the part",
            applies_with "nand.planes_per_die" not "1";
        /// Which pages of different planes may be served together.
        address: AddressRule = "same-page",
            source "ONFI 4.0, section 3.1: the page address is the same in all planes of a command",
            applies_with "nand.multi_plane.read" is "on" or "nand.multi_plane.program" is "on"
                or "nand.multi_plane.erase" is "on";
        /// The time between the addresses, or the data, of two planes (tDBSY). The bus is held meanwhile.
        gap: Nanos = "0ns", in "0ns"..="1ms",
            source "default: not counted; data sheets give 0.5 us to 1 us for tDBSY",
            applies_with "nand.multi_plane.read" is "on" or "nand.multi_plane.program" is "on"
                or "nand.multi_plane.erase" is "on";
        /// How many commands that wait for a die are examined, for each of its planes, to find some
        /// that fit a command which begins; "none" examines all of its kind and origin. The more
        /// are examined, the slower the simulation: in proportion for reads and erases, and up to
        /// the square for programs, each of which is compared with those before it.
        looks: Option<u32> = "4", in "1"..="65536", unit "commands",
            source "assumed: controllers look a few commands ahead; all as MQSim, TSU_Base.cpp",
            applies_with "nand.multi_plane.read" is "on" or "nand.multi_plane.program" is "on"
                or "nand.multi_plane.erase" is "on";
    }
}

options! {
    /// Cache operations: cells and transfers of a die at the same time.
    pub struct CacheOpsOptions at "nand.cache_ops" {
        /// The next page is sensed while the previous one is transferred.
        read: Switch = "off", source "default: the baseline without; see the part";
        /// The data of the next page is transferred while the previous one is programmed.
        program: Switch = "off", source "default: the baseline without; see the part";
        /// How much longer the cells take for an operation that follows another through the register (tRCBSY, tCBSY).
        busy: Nanos = "3us", in "0ns"..="1ms",
            source "Micron MT29F32G08ABAAA data sheet: tRCBSY and tCBSY are 3 us at least",
            applies_with "nand.cache_ops.read" is "on" or "nand.cache_ops.program" is "on";
    }
}

options! {
    /// The cost of suspending a program or an erase for a host read, and of resuming it. The
    /// scheduler decides whether to do so.
    pub struct SuspendOptions at "nand.suspend" {
        /// Suspending a program.
        program: Nanos = "20us", in "0ns"..="10ms",
            source "assumed; Wu and He, FAST 2012, wait for a program pulse of about 10 to 20 us",
            applies_with "scheduler.suspend" is "program-and-erase";
        /// Suspending an erase.
        erase: Nanos = "100us", in "0ns"..="10ms",
            source "assumed; Wu and He, FAST 2012, wait for a step of an erase pulse",
            applies_with "scheduler.suspend" not "none";
        /// The length of a program's pulses. With "0ns" it is suspended at any moment; otherwise it first works on to
        /// the end of its current pulse, counted from its beginning, and then takes `nand.suspend.program`.
        program_pulse: Nanos = "0ns", in "0ns"..="10ms",
            source "default: fixed times only; Wu and He, FAST 2012: between pulses of 10 to 20 us (inter phase suspension)",
            applies_with "scheduler.suspend" is "program-and-erase";
        /// The same for an erase.
        erase_pulse: Nanos = "0ns", in "0ns"..="100ms",
            source "default: fixed times only; Wu and He, FAST 2012: between pulses of an erase",
            applies_with "scheduler.suspend" not "none";
        /// Resuming.
        resume: Nanos = "5us", in "0ns"..="10ms", source "assumed",
            applies_with "scheduler.suspend" not "none";
    }
}
