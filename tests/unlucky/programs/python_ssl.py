# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
# TLS between a server and a client of this program, with a certificate of its own that is
# verified, and without sockets; the authorities that the system trusts are there, too.
import socket
import ssl
import threading

PAIR = """\
-----BEGIN CERTIFICATE-----
MIIBQDCB6KADAgECAgEBMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMMCWxvY2FsaG9z
dDAgFw0wMDAxMDEwMDAwMDBaGA8yMTAwMDEwMTAwMDAwMFowFDESMBAGA1UEAwwJ
bG9jYWxob3N0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEL0MVI8S2H8lFsozi
FKNr1zUErXyi++Wimvvx1Ztb3BEpae5IBjL4ht0+UwLrHl9qBT1UfPSF+/eIJTnt
8KU7iqMpMCcwFAYDVR0RBA0wC4IJbG9jYWxob3N0MA8GA1UdEwEB/wQFMAMBAf8w
CgYIKoZIzj0EAwIDRwAwRAIgYy0G2c4mp4Gk1ZsyQQotgudpoeH3YuS/sFDJvbvo
3DYCIH6oi5kp7ATpheiJ9YlWgIPxSlnn5YpUl1QsdgMeIY05
-----END CERTIFICATE-----
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQghuSnV26v+kgDKndJ
oIUUlYTR61CjLtNSsMkeh3Oe96WhRANCAAQvQxUjxLYfyUWyjOIUo2vXNQStfKL7
5aKa+/HVm1vcESlp7kgGMviG3T5TAuseX2oFPVR89IX794glOe3wpTuK
-----END PRIVATE KEY-----
"""
with open("pair.pem", "w") as file:
    file.write(PAIR)
server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
server_side.load_cert_chain("pair.pem")
client_side = ssl.create_default_context(cadata=PAIR[: PAIR.index("-----BEGIN PRIVATE")])


def serve(listener):
    connection, _ = listener.accept()
    with server_side.wrap_socket(connection, server_side=True) as stream:
        stream.sendall(stream.recv(100).upper())


with socket.create_server(("localhost", 0)) as listener:
    thread = threading.Thread(target=serve, args=(listener,))
    thread.start()
    with socket.create_connection(listener.getsockname()) as plain:
        with client_side.wrap_socket(plain, server_hostname="localhost") as stream:
            stream.sendall(b"hello")
            assert stream.recv(100) == b"HELLO"
            assert stream.version() == "TLSv1.3", stream.version()
    thread.join(20)

# The same handshake by hand, between two memories.
to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
client = client_side.wrap_bio(to_client, to_server, server_hostname="localhost")
server = server_side.wrap_bio(to_server, to_client, server_side=True)
for _ in range(4):
    for side in (client, server):
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            pass
client.write(b"through memory")
assert server.read(100) == b"through memory"

assert ssl.create_default_context().cert_store_stats()["x509_ca"] > 50
print("works")
