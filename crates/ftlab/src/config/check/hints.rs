//! The requirements of hints, and of knowledge of the future.

use super::Checker;
use crate::host::zones::ZonePolicy;

const POLICY: &str = "host.hints.policy";
const STREAMS: &str = "ftl.streams.policy";

impl Checker<'_, '_> {
    /// Hints need a drive that listens, and addresses that are those of data.
    pub(super) fn hints(&mut self) {
        let (hints, streams) = (&self.options.host.hints.policy, &self.options.ftl.streams.policy);
        let has_zones = self.options.host.zones.policy != ZonePolicy::None;
        if has_zones && streams.foresees() {
            let message =
                "goes by the addresses of data, and on zones these come to nothing".to_owned();
            let remedy = format!("set {STREAMS} to \"single\", or host.zones.policy to \"none\"");
            self.fail(&[STREAMS, "host.zones.policy"], message, remedy);
        }
        let (named, sizes) = (hints.identifiers(), hints.sizes());
        if named.is_some() && (has_zones || self.is_physical()) {
            let message = "goes by the addresses and sizes of data, which zones and physical addresses don't leave to the host";
            let remedy = format!("set {POLICY} to \"by-stream\"");
            self.fail(
                &[POLICY, "host.zones.policy", "ftl.mapping.policy"],
                message.to_owned(),
                remedy,
            );
        }
        match (named, streams.identifiers()) {
            (Some(_), None) => {
                let message =
                    "gives each write an identifier, and the drive listens to none".to_owned();
                let remedy = format!(
                    "set {STREAMS} to \"fdp\" or \"by-host-stream\", or {POLICY} to \"by-stream\""
                );
                self.fail(&[POLICY, STREAMS], message, remedy);
            }
            (Some(named), Some(known)) if named > known => {
                let message =
                    format!("names {named} identifiers, and the drive tells {known} apart");
                let remedy = "raise ftl.streams.handles or ftl.streams.host_streams, or lower host.hints.classes".to_owned();
                let more =
                    ["host.hints.classes", "ftl.streams.handles", "ftl.streams.host_streams"];
                self.fail(&[&[POLICY, STREAMS][..], &more].concat(), message, remedy);
            }
            _ => {}
        }
        if let Some([small, large]) = sizes
            && small > large
        {
            let message = "small writes end above where large ones begin".to_owned();
            let remedy = "lower it, or raise host.hints.large_from".to_owned();
            self.fail(&["host.hints.small_below", "host.hints.large_from"], message, remedy);
        }
    }
}
