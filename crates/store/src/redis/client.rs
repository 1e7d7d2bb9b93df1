//! A server in use: commands and scripts, whichever way they travel.

use std::{borrow::Cow, iter, sync::Arc, time::Duration};

use callboard_core::{id::SessionId, time::Timestamp};

use super::{
    address::{Address, Protocol},
    command::{Command, Reply},
    error::RedisFailure,
    layout::Layout,
    native::{BlockingConnection, Native},
    rest::Rest,
    script::Script,
};
use crate::{Clock, clock::ServerTime};

/// How often something is tried again that a server refuses because it has only just started.
const TRIES: u32 = 40;

/// How long to wait in between.
const BETWEEN_TRIES: Duration = Duration::from_millis(250);

/// A server, what its keys are called, and whose clock counts.
pub(super) struct Client {
    transport: Transport,
    pub(super) layout: Layout,
    clock: Arc<dyn Clock>,
    time: ServerTime,
    /// Who asks: another name for each handle, so that it knows what it did itself.
    pub(super) name: String,
}

/// The ways that commands travel.
enum Transport {
    Native(Box<Native>),
    Rest(Rest),
}

impl Client {
    pub(super) async fn open(address: &Address, clock: Arc<dyn Clock>) -> Result<Self, RedisFailure> {
        let layout = Layout::new(address.namespace.clone());
        let transport = match &address.protocol {
            Protocol::Native(url) => Transport::Native(Box::new(Native::connect(url, &layout.format).await?)),
            Protocol::Rest { base, token } => Transport::Rest(Rest::new(base, token)?),
        };
        Ok(Self { transport, layout, clock, time: ServerTime::default(), name: random_name() })
    }

    /// Gives one command.
    pub(super) async fn call(&self, command: Command<'_>) -> Result<Reply, RedisFailure> {
        self.call_when_ready(&command).await
    }

    /// Gives several commands at once. They may be carried out one by one.
    pub(super) async fn all(&self, commands: &[Command<'_>]) -> Result<Vec<Result<Reply, RedisFailure>>, RedisFailure> {
        if commands.is_empty() {
            return Ok(Vec::new());
        }
        match &self.transport {
            Transport::Native(native) => native.all(commands).await,
            Transport::Rest(rest) => rest.all(commands).await,
        }
    }

    /// Runs a script about `session`.
    pub(super) async fn run(
        &self,
        script: &Script,
        session: &SessionId,
        arguments: Vec<Cow<'_, str>>,
    ) -> Result<Reply, RedisFailure> {
        self.run_command(script, self.about(script, session, arguments)).await
    }

    /// Runs a script about these sessions, or about what all share. Its arguments say which.
    pub(super) async fn run_on(
        &self,
        script: &Script,
        sessions: &[&SessionId],
        arguments: Vec<Cow<'_, str>>,
    ) -> Result<Reply, RedisFailure> {
        self.run_command(script, self.command(script, sessions, arguments)).await
    }

    async fn run_command(&self, script: &Script, mut command: Command<'_>) -> Result<Reply, RedisFailure> {
        match self.call_when_ready(&command).await {
            Err(fault) if fault.is("NOSCRIPT") => {
                command.0.splice(..2, ["EVAL".into(), script.code().into()]);
                self.call_when_ready(&command).await
            }
            answer => answer,
        }
    }

    /// Runs a script about each of these sessions.
    pub(super) async fn run_each(
        &self,
        script: &Script,
        sessions: &[SessionId],
    ) -> Result<Vec<Result<Reply, RedisFailure>>, RedisFailure> {
        let commands: Vec<_> = sessions.iter().map(|session| self.about(script, session, Vec::new())).collect();
        let answers = self.all(&commands).await?;
        let mut replies = Vec::with_capacity(commands.len());
        for (answer, command) in answers.into_iter().zip(commands) {
            replies.push(match answer {
                // Nothing was done.
                Err(fault) if fault.is("NOSCRIPT") || fault.is_not_ready() => self.run_command(script, command).await,
                answer => answer,
            });
        }
        Ok(replies)
    }

    /// What time it is by the clock that counts.
    pub(super) async fn now(&self) -> Result<Timestamp, RedisFailure> {
        if !self.clock.is_system() {
            return Ok(self.clock.now());
        }
        self.time.now(self.ask_for_the_time()).await
    }

    async fn ask_for_the_time(&self) -> Result<Timestamp, RedisFailure> {
        let [seconds, micros] = self.call(Command::new(["TIME"])).await?.exactly()?;
        let ms = seconds.number()?.saturating_mul(1000).saturating_add(micros.number()? / 1000);
        Ok(Timestamp::nearest(ms))
    }

    /// A connection that can wait for changes, where the server can be waited on.
    pub(super) async fn blocking_connection(&self) -> Option<Result<BlockingConnection, RedisFailure>> {
        match &self.transport {
            Transport::Native(native) => Some(native.blocking_connection().await),
            Transport::Rest(_) => None,
        }
    }

    /// Whether the server speaks of itself as a server does, and not as a service.
    pub(super) fn is_native(&self) -> bool {
        matches!(self.transport, Transport::Native(_))
    }

    fn about<'a>(&self, script: &'a Script, session: &SessionId, arguments: Vec<Cow<'a, str>>) -> Command<'a> {
        let arguments = iter::once(session.to_string().into()).chain(arguments);
        self.command(script, &[session], arguments)
    }

    fn command<'a>(
        &self,
        script: &'a Script,
        sessions: &[&SessionId],
        arguments: impl IntoIterator<Item = Cow<'a, str>>,
    ) -> Command<'a> {
        // With the clock of the system it is the server's clock that counts, for all who use it alike.
        let now = if self.clock.is_system() { String::new() } else { self.clock.now().as_millis().to_string() };
        let keys = self.layout.keys(sessions);
        let mut words: Vec<Cow<'a, str>> = vec!["EVALSHA".into(), script.hash().into(), keys.len().to_string().into()];
        words.extend(keys.into_iter().map(Cow::from));
        words.extend([now.into(), self.name.clone().into()]);
        words.extend(arguments);
        Command(words)
    }

    /// Tries again while the server is not ready, which it says before it does anything.
    async fn call_when_ready(&self, command: &Command<'_>) -> Result<Reply, RedisFailure> {
        let mut tried = 0;
        loop {
            tried += 1;
            let answer = match &self.transport {
                Transport::Native(native) => native.call(command).await,
                Transport::Rest(rest) => rest.call(command).await,
            };
            match answer {
                Err(fault) if fault.is_not_ready() && tried < TRIES => tokio::time::sleep(BETWEEN_TRIES).await,
                answer => return answer,
            }
        }
    }
}

/// A name that nobody else has.
fn random_name() -> String {
    use std::hash::{BuildHasher as _, Hasher as _, RandomState};
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    format!("{:016x}", hasher.finish())
}
