//! What a device did in some windows of simulated time, and why a request took as long as it did.
//!
//! Nothing is recorded while a result is made. A run is deterministic, so whoever wants to see more performs it again
//! ([`Again`]): once to find the requests in question ([`RequestChoice`]), once more to record what touches them.

mod choose;
mod draw;
mod occupancy;
mod page;
mod panel;
mod perfetto;
mod recorder;
mod story;
mod traced;
mod when;
mod why;
mod windows;
mod words;

pub use self::choose::{Chooser, Chosen, RequestChoice};
pub use self::draw::{is_timeline, perfetto};
pub use self::occupancy::{Holder, Holding, Occupancy};
pub(crate) use self::page::Moment;
pub use self::page::{is_why_page, why_page};
pub use self::panel::{PanelCounter, PanelSlice, PanelTrack, TimelinePanel, panel};
pub use self::recorder::{
    DeviceRecord, FlashCommand, FlashPart, Recorder, SeenCollection, SeenMerges, SeenRequest, Span,
};
pub use self::story::{Doing, StoryPiece, own_work};
pub use self::traced::{Again, Stories, ToldRequest, Traced, windows_of};
pub use self::when::{NoWhen, When};
pub use self::why::{Question, WhyAnswer, WhyDocument, WhyRequest, WhyTail, main_shares, why};
pub use self::windows::Windows;
pub use self::words::{Detail, Share, Shares, Words};
