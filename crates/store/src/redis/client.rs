//! The client: sends commands and scripts to a server, over either protocol.

use std::{borrow::Cow, iter, sync::Arc, time::Duration};

use callboard_core::{id::SessionId, time::Timestamp};

use super::{
    address::Address,
    command::{Command, Reply},
    error::RedisFailure,
    layout::Layout,
    script::Script,
    transport::Transport,
};
use crate::{Clock, server_time::ServerTime};

/// How often a command is sent to a server that is not ready.
const TRIES: u32 = 40;

/// The pause between tries.
const BETWEEN_TRIES: Duration = Duration::from_millis(250);

/// A connection to a server, the names of its keys, and the time by which sessions expire.
pub(super) struct Client {
    pub(super) transport: Transport,
    pub(super) layout: Layout,
    time: ServerTime,
    /// A random name of this handle, by which it recognises its own changes.
    pub(super) name: String,
}

impl Client {
    pub(super) async fn open(address: &Address, clock: Arc<dyn Clock>) -> Result<Self, RedisFailure> {
        let layout = Layout(address.options.namespace.clone());
        let transport = Transport::connect(&address.protocol, &layout.shared("format")).await?;
        Ok(Self { transport, layout, time: ServerTime::new(clock), name: random_name() })
    }

    /// Runs a script for one session.
    pub(super) async fn run(
        &self,
        script: &Script,
        session: &SessionId,
        arguments: Vec<Cow<'_, str>>,
    ) -> Result<Reply, RedisFailure> {
        self.run_command(script, self.about(script, session, arguments)).await
    }

    /// Runs a script for these sessions, or for the shared keys only. The script's arguments contain the ids.
    pub(super) async fn run_on(
        &self,
        script: &Script,
        sessions: &[&SessionId],
        arguments: Vec<Cow<'_, str>>,
    ) -> Result<Reply, RedisFailure> {
        self.run_command(script, self.command(script, sessions, arguments)).await
    }

    async fn run_command(&self, script: &Script, mut command: Command<'_>) -> Result<Reply, RedisFailure> {
        match self.call(&command).await {
            Err(fault) if fault.is("NOSCRIPT") => {
                command.0.splice(..2, ["EVAL".into(), script.code.into()]);
                self.call(&command).await
            }
            answer => answer,
        }
    }

    /// Runs a script once for each of these sessions, at least one.
    pub(super) async fn run_each(
        &self,
        script: &Script,
        sessions: &[SessionId],
    ) -> Result<Vec<Result<Reply, RedisFailure>>, RedisFailure> {
        let commands: Vec<_> = sessions.iter().map(|session| self.about(script, session, Vec::new())).collect();
        let answers = self.transport.all(&commands).await?;
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

    /// The time by which sessions expire.
    pub(super) async fn now(&self) -> Result<Timestamp, RedisFailure> {
        self.time.now(self.ask_for_the_time()).await
    }

    async fn ask_for_the_time(&self) -> Result<Timestamp, RedisFailure> {
        let [seconds, micros] = self.call(&Command::new(["TIME"])).await?.exactly()?;
        let ms = seconds.number()?.saturating_mul(1000).saturating_add(micros.number()? / 1000);
        Ok(Timestamp::nearest(ms))
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
        // With the clock of the system, the server's own clock is used, so that all handles agree on the time.
        let now = self.time.of_test().map(|now| now.as_millis().to_string()).unwrap_or_default();
        let keys = self.layout.keys(sessions);
        let mut words: Vec<Cow<'a, str>> =
            vec!["EVALSHA".into(), script.hash.as_str().into(), keys.len().to_string().into()];
        words.extend(keys.into_iter().map(Cow::from));
        words.extend([now.into(), self.name.clone().into()]);
        words.extend(arguments);
        Command(words)
    }

    /// Sends a command. Tries again while the server is not ready.
    pub(super) async fn call(&self, command: &Command<'_>) -> Result<Reply, RedisFailure> {
        let mut tried = 0;
        loop {
            tried += 1;
            match self.transport.call(command).await {
                Err(fault) if fault.is_not_ready() && tried < TRIES => tokio::time::sleep(BETWEEN_TRIES).await,
                answer => return answer,
            }
        }
    }
}

/// A random name, unique among handles.
fn random_name() -> String {
    use std::hash::{BuildHasher as _, Hasher as _, RandomState};
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    format!("{:016x}", hasher.finish())
}
