//! Which addresses pages may reach.

use std::{
    collections::BTreeSet,
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    str::FromStr,
    sync::{Arc, Mutex, PoisonError},
};

use url::{Host, Url};

use crate::BrowserError;

/// Which hosts and addresses a browser may reach. The default allows every public one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// If not empty, these hosts alone: `example.com`, or `*.example.com` for all below it.
    pub allow_hosts: Vec<String>,
    /// Never these hosts, written in the same way.
    pub deny_hosts: Vec<String>,
    /// Private, loopback and other addresses that are not public may be reached.
    pub allow_private: bool,
    /// These hosts may be reached whatever their addresses are. They are compared with the host as the page names it, so that no
    /// other name can be pointed at them.
    pub allow_addresses: Vec<HostPort>,
    /// Never these addresses, such as those of the server itself. One with the address `0.0.0.0` or `::` stands for its port on
    /// every address that is not public, a loopback one for its port on this machine.
    pub refuse: Vec<SocketAddr>,
}

/// Ports of this machine that no page ever reaches, whatever the rules say: those of DevTools and of the proxies. Browsers whose
/// settings share it keep away from each other's.
#[derive(Clone, Debug, Default)]
pub struct ReservedPorts(Arc<Mutex<BTreeSet<u16>>>);

impl ReservedPorts {
    pub(crate) fn reserve(&self, port: u16) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(port);
    }

    pub(crate) fn release(&self, port: u16) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&port);
    }

    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        let ports = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ports.iter().map(|port| ([127, 0, 0, 1], *port).into()).collect()
    }
}

/// How many characters of a refused address are shown.
const SHOWN: usize = 300;

/// A host and perhaps a port: `intranet.local`, `127.0.0.1:8080`, `[::1]:80`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPort {
    /// A name in lower case, or an address.
    pub host: String,
    /// Without one, every port.
    pub port: Option<u16>,
}

impl FromStr for HostPort {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("`{text}` is not host or host:port");
        let text = text.trim();
        if let Ok(address) = text.parse::<IpAddr>() {
            return Ok(Self { host: address.to_string(), port: None });
        }
        // The scheme has no usual port, so that a port which is given is kept.
        let url = Url::parse(&format!("callboard://{text}")).map_err(|_| bad())?;
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or_else(bad)?;
        if url.path().len() > 1 || !url.username().is_empty() || url.query().is_some() || url.fragment().is_some() {
            return Err(bad());
        }
        Ok(Self { host: plain_host(host), port: url.port() })
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = &self.host;
        match self.port {
            None => f.write_str(host),
            Some(port) if host.contains(':') => write!(f, "[{host}]:{port}"),
            Some(port) => write!(f, "{host}:{port}"),
        }
    }
}

/// A host in one spelling: lower case, an address without brackets, no dot at the end.
pub(crate) fn plain_host(host: &str) -> String {
    let host = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.').to_lowercase();
    match Host::parse(&host) {
        Ok(Host::Ipv4(address)) => address.to_string(),
        _ => host.parse::<Ipv6Addr>().map_or(host, |address| address.to_string()),
    }
}

impl Rules {
    /// Refuses an address whose scheme or host may not be opened, before there is a browser. What is behind its host is checked
    /// when it is opened.
    ///
    /// # Errors
    /// [`BrowserError::AddressRefused`] says why.
    pub fn check(&self, url: &str) -> Result<(), BrowserError> {
        let refused = |reason| BrowserError::AddressRefused { url: url.chars().take(SHOWN).collect(), reason };
        self.check_url(url).map(drop).map_err(refused)
    }

    /// The address to open, if its scheme and host may be opened. Addresses behind the host are checked by [`Rules::resolve`].
    pub(crate) fn check_url(&self, url: &str) -> Result<Url, String> {
        let parsed = Url::parse(url.trim())
            .map_err(|error| format!("it is no address ({error}); give it whole, with https://"))?;
        match parsed.scheme() {
            "http" | "https" => self.check_host(&plain_host(parsed.host_str().unwrap_or_default())).map(|()| parsed),
            "about" if parsed.path() == "blank" => Ok(parsed),
            scheme => Err(format!("pages are opened by http and https, not by {scheme}:")),
        }
    }

    /// Whether the host itself may be reached.
    pub(crate) fn check_host(&self, host: &str) -> Result<(), String> {
        if let Some(pattern) = self.deny_hosts.iter().find(|pattern| matches(pattern, host)) {
            return Err(format!("the host {host} is forbidden by `{pattern}`"));
        }
        if !self.allow_hosts.is_empty() && !self.allow_hosts.iter().any(|pattern| matches(pattern, host)) {
            return Err(format!("the host {host} is not among the allowed ones ({})", self.allow_hosts.join(", ")));
        }
        Ok(())
    }

    /// Checks the host, resolves it and returns the addresses that may be connected to. There is at least one.
    pub(crate) async fn resolve(
        &self,
        host: &str,
        port: u16,
        refuse_too: &[SocketAddr],
    ) -> Result<Vec<SocketAddr>, String> {
        let host = plain_host(host);
        self.check_host(&host)?;
        let found = tokio::net::lookup_host((host.as_str(), port))
            .await
            .map_err(|error| format!("{host} is unknown: {error}"))?;
        self.allowed(&host, found, refuse_too)
    }

    /// Of the addresses that were found for a host those that may be connected to. There is at least one.
    fn allowed(
        &self,
        host: &str,
        found: impl IntoIterator<Item = SocketAddr>,
        refuse_too: &[SocketAddr],
    ) -> Result<Vec<SocketAddr>, String> {
        let mut reason = format!("{host} has no address");
        let mut allowed = Vec::new();
        for address in found {
            match self.check_address(host, address, refuse_too) {
                Ok(()) => allowed.push(address),
                Err(refusal) => reason = refusal,
            }
        }
        if allowed.is_empty() { Err(reason) } else { Ok(allowed) }
    }

    /// Whether this address of this host may be connected to.
    pub(crate) fn check_address(
        &self,
        host: &str,
        address: SocketAddr,
        refuse_too: &[SocketAddr],
    ) -> Result<(), String> {
        let ip = plain_ip(address.ip());
        if self.refuse.iter().chain(refuse_too).any(|refused| covers(*refused, ip, address.port())) {
            return Err(format!("{ip}:{} belongs to Callboard itself", address.port()));
        }
        let named = |allowed: &HostPort| allowed.host == host && allowed.port.is_none_or(|port| port == address.port());
        match special_use(ip) {
            Some(kind) if !self.allow_private && !self.allow_addresses.iter().any(named) => {
                let host = HostPort { host: host.to_owned(), port: Some(address.port()) };
                Err(format!("{host} is at {ip}, {kind}; allow {host} to reach it"))
            }
            _ => Ok(()),
        }
    }
}

fn matches(pattern: &str, host: &str) -> bool {
    let pattern = pattern.trim().to_lowercase();
    match pattern.strip_prefix("*.") {
        Some(parent) => host.strip_suffix(parent).is_some_and(|below| below.ends_with('.')),
        None => plain_host(&pattern) == host,
    }
}

fn covers(refused: SocketAddr, ip: IpAddr, port: u16) -> bool {
    let own = plain_ip(refused.ip());
    refused.port() == port
        && (own == ip
            || (own.is_unspecified() && special_use(ip).is_some())
            || (own.is_loopback() && (ip.is_loopback() || ip.is_unspecified())))
}

/// An IPv4 address that is written within an IPv6 one, as itself.
fn plain_ip(ip: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = ip else { return ip };
    if let Some(v4) = v6.to_ipv4_mapped() {
        return v4.into();
    }
    match v6.segments() {
        // NAT64, 6to4, and the old "compatible" form: a gateway turns them into the IPv4 address.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => v4_of(high, low).into(),
        [0x2002, high, low, ..] => v4_of(high, low).into(),
        [0, 0, 0, 0, 0, 0, high, low] if high != 0 => v4_of(high, low).into(),
        _ => ip,
    }
}

fn v4_of(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from_bits((u32::from(high) << 16) | u32::from(low))
}

/// What kind of address it is, if it is no public one.
fn special_use(ip: IpAddr) -> Option<&'static str> {
    match ip {
        IpAddr::V4(v4) => special_use_v4(v4),
        IpAddr::V6(v6) => special_use_v6(v6),
    }
}

fn special_use_v4(ip: Ipv4Addr) -> Option<&'static str> {
    let [a, b, c, _] = ip.octets();
    if ip.is_loopback() {
        Some("a loopback address")
    } else if a == 0 {
        Some("an address of this machine")
    } else if ip == Ipv4Addr::new(169, 254, 169, 254) {
        Some("the address of a cloud's metadata")
    } else if ip.is_link_local() {
        Some("a link-local address")
    } else if ip.is_private() {
        Some("a private address")
    } else if a == 100 && (64..128).contains(&b) {
        Some("a shared address")
    } else if ip.is_multicast() {
        Some("a multicast address")
    } else if a >= 240 || ip.is_documentation() || (a == 198 && b & 0xfe == 18) || (a == 192 && b == 0 && c == 0) {
        Some("a reserved address")
    } else {
        None
    }
}

fn special_use_v6(ip: Ipv6Addr) -> Option<&'static str> {
    let [first, second, ..] = ip.segments();
    if ip.is_loopback() {
        Some("a loopback address")
    } else if ip.is_unspecified() {
        Some("an address of this machine")
    } else if ip.is_unique_local() {
        Some("a unique local address")
    } else if ip.is_unicast_link_local() || first & 0xffc0 == 0xfec0 {
        Some("a link-local address")
    } else if ip.is_multicast() {
        Some("a multicast address")
    } else if (first == 0x2001 && (second == 0xdb8 || second < 0x200)) || first & 0xe000 != 0x2000 {
        Some("a reserved address")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rules: &Rules, host: &str, address: &str, allowed: bool) {
        let answer = rules.check_address(host, address.parse().unwrap(), &[]);
        assert_eq!(answer.is_ok(), allowed, "{host} at {address}: {answer:?}");
    }

    #[test]
    fn only_public_addresses_are_reached() {
        let rules = Rules::default();
        for public in ["93.184.216.34:443", "[2606:2800:220:1::1]:443", "100.128.0.1:80", "172.32.0.1:80"] {
            check(&rules, "a.example", public, true);
        }
        for special in [
            "127.0.0.1:80",
            "127.9.9.9:80",
            "0.0.0.0:80",
            "0.1.2.3:80",
            "10.0.0.1:80",
            "172.16.0.1:80",
            "192.168.1.1:80",
            "169.254.169.254:80",
            "169.254.1.1:80",
            "100.64.0.1:80",
            "224.0.0.1:80",
            "255.255.255.255:80",
            "198.18.0.1:80",
            "[::1]:80",
            "[::]:80",
            "[fc00::1]:80",
            "[fd00:ec2::254]:80",
            "[fe80::1]:80",
            "[fec0::1]:80",
            "[ff02::1]:80",
            "[::ffff:127.0.0.1]:80",
            "[::ffff:10.0.0.1]:80",
            "[64:ff9b::7f00:1]:80",
            "[2002:7f00:1::]:80",
            "[::127.0.0.1]:80",
            "[2001:db8::1]:80",
        ] {
            check(&rules, "a.example", special, false);
        }
    }

    #[test]
    fn of_a_name_that_changes_its_address_each_answer_is_checked() {
        let rules = Rules::default();
        let allowed = |found: &[&str]| {
            let found = found.iter().map(|address| address.parse().unwrap());
            rules.allowed("rebind.example", found, &[])
        };
        assert_eq!(allowed(&["93.184.216.34:80"]).unwrap().len(), 1, "the first answer is public");
        let refused = allowed(&["127.0.0.1:80"]).unwrap_err();
        assert!(refused.contains("rebind.example:80 is at 127.0.0.1, a loopback address"), "{refused}");
        let both = allowed(&["127.0.0.1:80", "93.184.216.34:80", "[fd00::1]:80"]).unwrap();
        assert_eq!(both, ["93.184.216.34:80".parse::<SocketAddr>().unwrap()], "no other is connected to");
        assert_eq!(allowed(&[]).unwrap_err(), "rebind.example has no address");
    }

    #[test]
    fn an_allowed_address_is_allowed_by_the_name_that_is_given_alone() {
        let rules = Rules { allow_addresses: vec!["localhost:8080".parse().unwrap()], ..Rules::default() };
        check(&rules, "localhost", "127.0.0.1:8080", true);
        check(&rules, "localhost", "127.0.0.1:8081", false);
        check(&rules, "evil.example", "127.0.0.1:8080", false);
        let rules = Rules { allow_private: true, ..Rules::default() };
        check(&rules, "evil.example", "127.0.0.1:8080", true);
    }

    #[test]
    fn own_addresses_are_refused_whatever_is_allowed() {
        let refuse = vec!["127.0.0.1:8080".parse().unwrap(), "0.0.0.0:9090".parse().unwrap()];
        let rules = Rules { allow_private: true, refuse, ..Rules::default() };
        for own in [
            "127.0.0.1:8080",
            "127.0.0.2:8080",
            "0.0.0.0:8080",
            "[::ffff:127.0.0.1]:8080",
            "192.168.1.7:9090",
            "[::1]:9090",
        ] {
            check(&rules, "a.example", own, false);
        }
        check(&rules, "a.example", "127.0.0.1:8081", true);
    }

    #[test]
    fn hosts_are_allowed_and_forbidden_by_name() {
        let rules = Rules {
            allow_hosts: vec!["example.com".into(), "*.example.org".into()],
            deny_hosts: vec!["bad.example.org".into()],
            ..Rules::default()
        };
        let allowed = |url| rules.check_url(url).is_ok();
        assert!(allowed("https://EXAMPLE.com./x") && allowed("http://a.b.example.org"));
        assert!(
            !allowed("https://www.example.com")
                && !allowed("https://example.org")
                && !allowed("https://bad.example.org")
        );
        assert!(!allowed("https://notexample.org") && !allowed("https://xexample.org"));
        assert!(allowed("about:blank"));
    }

    #[test]
    fn only_web_addresses_are_opened() {
        for url in [
            "file:///etc/passwd",
            "javascript:alert(1)",
            "data:text/html,x",
            "chrome://settings",
            "ftp://a",
            "about:config",
            "view-source:http://a",
            "blob:http://a/1",
            "a.example",
            "",
        ] {
            assert!(Rules::default().check_url(url).is_err(), "{url}");
        }
    }

    #[test]
    fn hosts_with_ports_are_read_and_shown() {
        for (text, shown) in [
            ("LocalHost:80", "localhost:80"),
            ("a.example", "a.example"),
            ("[::1]:80", "[::1]:80"),
            ("::1", "::1"),
            ("127.0.0.1:443", "127.0.0.1:443"),
        ] {
            assert_eq!(text.parse::<HostPort>().unwrap().to_string(), shown);
        }
        for bad in ["", "a b", "http://a", "a/b", "a:b", "u@a"] {
            assert!(bad.parse::<HostPort>().is_err(), "{bad}");
        }
    }
}
