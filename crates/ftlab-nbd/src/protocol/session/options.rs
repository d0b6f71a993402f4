//! The negotiation: which export a connection is for, and how its requests are answered. Sections "Fixed newstyle
//! negotiation", "Option types" and "Metadata querying".

use super::{Closing, Phase, Session, SessionEvent, SessionStep};
use crate::protocol::Export;
use crate::protocol::codec::flags::HandshakeFlags;
use crate::protocol::codec::handshake::{
    BASE_ALLOCATION, BASE_ALLOCATION_ID, BASE_WILDCARD, BadMagic, CLIENT_FLAGS, ContextQuery, Info,
    InfoQuery, KnownOption, OPTION_HEADER, OptionHeader, OptionNumber, OptionReply, ZEROES,
    block_sizes, export_facts, option_reply,
};
use crate::protocol::limits::{
    MOST_OPTION, MOST_OPTION_OUTPUT, MOST_OPTIONS, MOST_SKIPPED_OPTION, MOST_STRING,
};

/// What the greeting offers.
pub const OFFERED: HandshakeFlags = HandshakeFlags::from_bits(
    HandshakeFlags::FIXED_NEWSTYLE.bits() | HandshakeFlags::NO_ZEROES.bits(),
);

/// What a log shows of a name that a client made up.
const SHOWN_NAME: usize = 64;

/// What is known while options are exchanged, beside the [`Terms`](super::Terms).
#[derive(Clone, Copy, Debug)]
pub struct Haggling {
    client: HandshakeFlags,
    /// Options so far.
    count: u32,
    /// The export whose metadata context the client chose.
    context: Option<usize>,
}

/// Which of the two options about an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Describe,
    Choose,
}

impl Session {
    pub(super) fn greeting(&mut self) -> SessionStep {
        let Some(flags) = self.input.filled().first_chunk::<CLIENT_FLAGS>() else {
            return SessionStep::Hungry;
        };
        let client = HandshakeFlags::from_bits(u32::from_be_bytes(*flags));
        self.input.consume(CLIENT_FLAGS);
        if client.without(OFFERED) != HandshakeFlags::NONE {
            return self.close_step(Closing::UnknownClientFlags(client.bits()));
        }
        self.phase = Phase::Options(Haggling { client, count: 0, context: None });
        SessionStep::Onward
    }

    pub(super) fn option(&mut self, mut haggling: Haggling) -> SessionStep {
        if self.output.len() > MOST_OPTION_OUTPUT {
            return SessionStep::Full;
        }
        let header = match OptionHeader::decode(self.input.filled()) {
            None => return SessionStep::Hungry,
            Some(Err(BadMagic(magic))) => return self.close_step(Closing::BadOptionMagic(magic)),
            Some(Ok(header)) => header,
        };
        let length = header.length as usize;
        if let Some(reason) = haggling.objection(header) {
            return self.close_step(reason);
        }
        if length > MOST_OPTION {
            haggling.count += 1;
            self.input.consume(OPTION_HEADER);
            let option = header.option;
            self.phase = Phase::SkippedOption { haggling, option, left: length };
            return SessionStep::Onward;
        }
        let Some(data) = self.input.filled().get(OPTION_HEADER..OPTION_HEADER + length) else {
            return SessionStep::Hungry;
        };
        // A copy sets the input free. There are few options, and most have no data.
        let data = data.to_vec();
        self.input.consume(OPTION_HEADER + length);
        haggling.count += 1;
        self.answer(header.option, &data, haggling)
    }

    fn answer(&mut self, option: OptionNumber, data: &[u8], mut haggling: Haggling) -> SessionStep {
        let Some(known) = option.known() else {
            self.refuse_option(option, OptionReply::Unsupported, "unknown option");
            return self.resume(haggling);
        };
        if !known.has_data() && !data.is_empty() {
            self.refuse_option(option, OptionReply::Invalid, "this option has no data");
            return self.resume(haggling);
        }
        match known {
            KnownOption::ExportName => return self.export_name(data, haggling),
            KnownOption::Abort => {
                self.reply_option(option, OptionReply::Ack, &[]);
                return self.close_step(Closing::Aborted);
            }
            KnownOption::Info => _ = self.info(option, data, Purpose::Describe),
            KnownOption::Go => {
                if let Some(export) = self.info(option, data, Purpose::Choose) {
                    return self.open(export, haggling);
                }
            }
            KnownOption::List => self.list(option),
            KnownOption::StartTls => {
                self.refuse_option(option, OptionReply::Policy, "this server does not encrypt");
            }
            KnownOption::StructuredReply => self.structured_reply(option),
            KnownOption::ListMetaContext => _ = self.contexts(option, data, Purpose::Describe),
            KnownOption::SetMetaContext => {
                haggling.context = self.contexts(option, data, Purpose::Choose);
            }
        }
        self.resume(haggling)
    }

    fn resume(&mut self, haggling: Haggling) -> SessionStep {
        self.phase = Phase::Options(haggling);
        SessionStep::Onward
    }

    fn open(&mut self, export: usize, haggling: Haggling) -> SessionStep {
        // A context that was chosen for another export counts for nothing.
        self.terms.block_status = haggling.context == Some(export);
        self.phase = Phase::Requests(export);
        SessionStep::SessionEvent(SessionEvent::Opened(export))
    }

    fn export_name(&mut self, name: &[u8], haggling: Haggling) -> SessionStep {
        if name.len() > MOST_STRING {
            return self.close_step(Closing::NameTooLong(name.len()));
        }
        let Some(index) = self.find(name) else {
            let name = String::from_utf8_lossy(name).chars().take(SHOWN_NAME).collect();
            return self.close_step(Closing::UnknownExport(name));
        };
        let export = &self.exports[index];
        self.output.put(&export_facts(export.size, export.flags(self.terms.structured)));
        if !haggling.client.has(HandshakeFlags::NO_ZEROES) {
            self.output.put(&[0; ZEROES]);
        }
        self.open(index, haggling)
    }

    fn list(&mut self, option: OptionNumber) {
        for index in 0..self.exports.len() {
            let export = &self.exports[index];
            let (name, text) = (export.name.as_bytes(), clip(&export.description).as_bytes());
            let length = size_of::<u32>() + name.len() + text.len();
            self.output.put(&option_reply(option, OptionReply::Server, length as u32));
            self.output.put(&(name.len() as u32).to_be_bytes());
            self.output.put(name);
            self.output.put(text);
        }
        self.reply_option(option, OptionReply::Ack, &[]);
    }

    fn structured_reply(&mut self, option: OptionNumber) {
        if self.terms.structured {
            let message = "structured replies are negotiated already";
            return self.refuse_option(option, OptionReply::Invalid, message);
        }
        self.terms.structured = true;
        self.reply_option(option, OptionReply::Ack, &[]);
    }

    /// Describes an export, and returns its place.
    fn info(&mut self, option: OptionNumber, data: &[u8], purpose: Purpose) -> Option<usize> {
        let Some(query) = InfoQuery::decode(data) else {
            self.refuse_option(option, OptionReply::Invalid, "lengths don't match");
            return None;
        };
        let index = self.find_or_refuse(option, query.name)?;
        let exports = self.exports.clone();
        let export = &exports[index];
        let flags = export.flags(self.terms.structured);
        self.reply_info(option, Info::Export, &export_facts(export.size, flags));
        if query.wants(Info::Name) {
            self.reply_info(option, Info::Name, export.name.as_bytes());
        }
        if query.wants(Info::Description) && !export.description.is_empty() {
            self.reply_info(option, Info::Description, clip(&export.description).as_bytes());
        }
        // Always told when an export is chosen, so that no client can say that it did not know.
        if query.wants(Info::BlockSize) || purpose == Purpose::Choose {
            self.reply_info(option, Info::BlockSize, &block_sizes(export));
        }
        self.reply_option(option, OptionReply::Ack, &[]);
        Some(index)
    }

    /// Names the metadata contexts that a client asks for, and returns the export if there are any.
    fn contexts(&mut self, option: OptionNumber, data: &[u8], purpose: Purpose) -> Option<usize> {
        if !self.terms.structured {
            let message = "structured replies must be negotiated first";
            self.refuse_option(option, OptionReply::Invalid, message);
            return None;
        }
        let Some(query) = ContextQuery::decode(data) else {
            self.refuse_option(option, OptionReply::Invalid, "lengths don't match");
            return None;
        };
        let export = self.find_or_refuse(option, query.name)?;
        let everything = purpose == Purpose::Describe;
        let matches =
            |text: &[u8]| text == BASE_ALLOCATION.as_bytes() || everything && text == BASE_WILDCARD;
        let wanted = query.queries().any(matches) || everything && query.queries().next().is_none();
        if wanted {
            let length = size_of::<u32>() + BASE_ALLOCATION.len();
            self.output.put(&option_reply(option, OptionReply::MetaContext, length as u32));
            self.output.put(&BASE_ALLOCATION_ID.to_be_bytes());
            self.output.put(BASE_ALLOCATION.as_bytes());
        }
        self.reply_option(option, OptionReply::Ack, &[]);
        wanted.then_some(export)
    }

    fn find(&self, name: &[u8]) -> Option<usize> {
        let named = |export: &Export| export.name.as_bytes() == name;
        let first = || (name.is_empty() && !self.exports.is_empty()).then_some(0);
        self.exports.iter().position(named).or_else(first)
    }

    fn find_or_refuse(&mut self, option: OptionNumber, name: &[u8]) -> Option<usize> {
        if name.len() > MOST_STRING {
            self.refuse_option(option, OptionReply::TooBig, "no export has such a long name");
            return None;
        }
        let found = self.find(name);
        if found.is_none() {
            self.refuse_option(option, OptionReply::Unknown, "no export has this name");
        }
        found
    }

    fn reply_option(&mut self, option: OptionNumber, reply: OptionReply, data: &[u8]) {
        self.output.put(&option_reply(option, reply, data.len() as u32));
        self.output.put(data);
    }

    fn reply_info(&mut self, option: OptionNumber, info: Info, data: &[u8]) {
        let length = size_of::<u16>() + data.len();
        self.output.put(&option_reply(option, OptionReply::Info, length as u32));
        self.output.put(&(info as u16).to_be_bytes());
        self.output.put(data);
    }

    fn refuse_option(&mut self, option: OptionNumber, reply: OptionReply, message: &str) {
        self.reply_option(option, reply, message.as_bytes());
    }

    pub(super) fn refuse_big(&mut self, option: OptionNumber) {
        self.refuse_option(option, OptionReply::TooBig, "an option with too much data");
    }
}

impl Haggling {
    /// Returns why an option ends the connection, if it does.
    fn objection(&self, header: OptionHeader) -> Option<Closing> {
        let OptionHeader { option, length } = header;
        let names_export = option.known() == Some(KnownOption::ExportName);
        let length_in_memory = length as usize;
        Some(if self.count == MOST_OPTIONS {
            Closing::TooManyOptions
        } else if !names_export && !self.client.has(HandshakeFlags::FIXED_NEWSTYLE) {
            Closing::NotFixedNewstyle(option.0)
        } else if length_in_memory > MOST_SKIPPED_OPTION {
            Closing::OptionTooBig(length)
        } else if names_export && length_in_memory > MOST_STRING {
            Closing::NameTooLong(length_in_memory)
        } else {
            return None;
        })
    }
}

/// Shortens a text to what a message may hold.
pub(super) fn clip(text: &str) -> &str {
    &text[..text.floor_char_boundary(MOST_STRING)]
}
