//! A member of etcd that is reached over TLS, and wants to be shown a certificate.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::has;

/// A member of etcd that is reached over TLS. It is gone when this is dropped.
#[derive(Debug)]
pub struct Secured {
    child: Child,
    url: String,
    dir: PathBuf,
}

impl Drop for Secured {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Secured {
    /// Starts one in `dir`, with an authority of its own: `ca.pem` there vouches for it, and it lets in whoever shows
    /// `m.pem` with the key `m.key`. None where etcd or openssl is not installed.
    ///
    /// # Panics
    /// If the certificates cannot be made.
    #[must_use]
    pub fn start(dir: &Path) -> Option<Self> {
        if !has("etcd") || !has("openssl") {
            return None;
        }
        certify(dir);
        let port = || TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let (url, peer) = (format!("https://127.0.0.1:{}", port()), format!("http://127.0.0.1:{}", port()));
        let child = Command::new("etcd")
            .current_dir(dir)
            .args(["--name", "m0", "--data-dir", "data", "--log-level", "error"])
            .args(["--listen-client-urls", &url, "--advertise-client-urls", &url])
            .args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer])
            .args(["--initial-cluster", &format!("m0={peer}")])
            .args(["--cert-file", "m.pem", "--key-file", "m.key"])
            .args(["--client-cert-auth", "--trusted-ca-file", "ca.pem"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Some(Self { child, url, dir: dir.to_path_buf() })
    }

    /// Where it is reached.
    #[must_use]
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// One of its files.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// The content of one of its files.
    ///
    /// # Panics
    /// If it cannot be read.
    #[must_use]
    pub fn file(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }
}

/// Makes an authority, and a certificate that it vouches for.
fn certify(dir: &Path) {
    let openssl = |args: &[&str]| {
        let done = Command::new("openssl").current_dir(dir).args(args).output().unwrap();
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    };
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    let ca = ["req", "-x509", "-days", "2", "-subj", "/CN=ca", "-keyout", "ca.key", "-out", "ca.pem"];
    openssl(&[&ca[..], &key].concat());
    openssl(&[&["req", "-subj", "/CN=m0", "-keyout", "m.key", "-out", "m.csr"][..], &key].concat());
    let extension = "subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n";
    std::fs::write(dir.join("ext"), extension).unwrap();
    let sign = ["x509", "-req", "-days", "2", "-in", "m.csr", "-CA", "ca.pem", "-CAkey", "ca.key"];
    openssl(&[&sign[..], &["-CAcreateserial", "-extfile", "ext", "-out", "m.pem"]].concat());
}
