// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "tests/support/package_index.h"

#include <filesystem>
#include <fstream>

namespace wardcase::test {
namespace fs = std::filesystem;
namespace {

// make.py KIND DIRECTORY ARGUMENTS
constexpr std::string_view kMake = R"(
import base64, hashlib, io, json, os, sys, tarfile, zipfile
kind, top, name = sys.argv[1:4]
links = os.path.join(top, 'links')

def list_file(path):
    page = os.path.join(top, 'site/simple', name.replace('_', '-'))
    os.makedirs(page, exist_ok=True)
    os.link(path, os.path.join(page, os.path.basename(path)))

def add(archive, path, text):
    info = tarfile.TarInfo(path)
    info.size = len(text)
    archive.addfile(info, io.BytesIO(text))

if kind == 'wheel':
    version, code, needs, pth = sys.argv[4:8]
    path = os.path.join(links, f'{name}-{version}-py3-none-any.whl')
    about = f'{name}-{version}.dist-info/'
    metadata = f'Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n'
    if needs:
        metadata += f'Requires-Dist: {needs}\n'
    with zipfile.ZipFile(path, 'w') as wheel:
        wheel.writestr(f'{name}.py', code)
        if pth:
            wheel.writestr(f'{name}.pth', pth)
        wheel.writestr(about + 'METADATA', metadata)
        wheel.writestr(about + 'WHEEL', 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n')
        wheel.writestr(about + 'RECORD', f'{name}.py,,\n{about}METADATA,,\n{about}WHEEL,,\n{about}RECORD,,\n')
    list_file(path)
elif kind == 'source':
    attack = sys.argv[4]
    backend = '''
import os, zipfile
def build_wheel(directory, config_settings=None, metadata_directory=None):
    seen = {}
    exec(open(os.path.join(os.path.dirname(__file__), 'attack.py')).read(), {'seen': seen})
    name = 'NAME-1.0-py3-none-any.whl'
    about = 'NAME-1.0.dist-info/'
    with zipfile.ZipFile(os.path.join(directory, name), 'w') as wheel:
        wheel.writestr('NAME.py', 'seen = ' + repr(seen))
        wheel.writestr(about + 'METADATA', 'Metadata-Version: 2.1\\nName: NAME\\nVersion: 1.0\\n')
        wheel.writestr(about + 'WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
        wheel.writestr(about + 'RECORD', 'NAME.py,,\\n')
    return name
'''.replace('NAME', name)
    project = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    project += f'[project]\nname = "{name}"\nversion = "1.0"\n'
    path = os.path.join(links, f'{name}-1.0.tar.gz')
    with tarfile.open(path, 'w:gz') as archive:
        base = f'{name}-1.0/'
        add(archive, base + 'PKG-INFO', f'Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n'.encode())
        add(archive, base + 'pyproject.toml', project.encode())
        add(archive, base + 'backend.py', backend.encode())
        add(archive, base + 'attack.py', attack.encode())
    list_file(path)
elif kind == 'npm':
    code, host, version = sys.argv[4:7]
    path = os.path.join(top, 'site/npm', name + '.tgz')
    package = {'name': name, 'version': version, 'main': 'index.js'}
    with tarfile.open(path, 'w:gz') as archive:
        add(archive, 'package/package.json', json.dumps(package).encode())
        add(archive, 'package/index.js', code.encode())
    digest = hashlib.sha512(open(path, 'rb').read()).digest()
    dist = {'tarball': f'http://{host}/npm/{name}.tgz',
            'integrity': 'sha512-' + base64.b64encode(digest).decode()}
    page = {'name': name, 'dist-tags': {'latest': version},
            'versions': {version: dict(package, dist=dist)}}
    with open(os.path.join(top, 'site/npm', name), 'w') as out:
        json.dump(page, out)
)";

constexpr std::string_view kServe = R"(
import http.server, sys
class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0),
    lambda *words: Handler(*words, directory=sys.argv[1]))
sys.stderr.write('port=%d;\n' % server.server_address[1])
server.serve_forever()
)";

constexpr const char* kPython = "/usr/bin/python3";

}  // namespace

PackageIndex::PackageIndex(Caller caller) : caller_(caller), files_(caller) {
  make_directories();
  (void)files_.write("make.py", kMake);
  (void)files_.write("serve.py", kServe);
}

void PackageIndex::make_directories() const {
  const Outcome made =
      Command::other(caller_, {"/bin/mkdir", "-p", links(), (files_.path() / "site/npm").string(),
                               (files_.path() / "site/simple").string()})
          .finish();
  EXPECT_EQ(made.exit_code, 0) << made;
}

void PackageIndex::make(std::vector<std::string> words) const {
  words.insert(words.begin() + 1, files_.path().string());
  words.insert(words.begin(), {kPython, (files_.path() / "make.py").string()});
  const Outcome made = Command::other(caller_, std::move(words)).finish();
  EXPECT_EQ(made.exit_code, 0) << made;
}

void PackageIndex::add_wheel(const std::string& name, const std::string& version,
                             const std::string& code, const std::string& requires_,
                             const std::string& pth) const {
  make({"wheel", name, version, code, requires_, pth});
}

void PackageIndex::add_source(const std::string& name, const std::string& attack) const {
  make({"source", name, attack});
}

void PackageIndex::add_link(const std::string& name, const std::string& url) const {
  const std::string page = "site/simple/" + name;
  const Outcome made =
      Command::other(caller_, {"/bin/mkdir", (files_.path() / page).string()}).finish();
  EXPECT_EQ(made.exit_code, 0) << made;
  put("simple/" + name + "/index.html", "<a href=\"" + url + "\">" + name + "</a>");
}

void PackageIndex::add_npm(const std::string& name, const std::string& code,
                           const std::string& version) const {
  make({"npm", name, code, host(), version});
}

void PackageIndex::put(const std::string& path, std::string_view text) const {
  (void)files_.write("site/" + path, text);
}

void PackageIndex::begin() {
  constexpr std::string_view kBefore = "port=";
  server_.emplace(Command::other(caller_, {kPython, (files_.path() / "serve.py").string(),
                                           (files_.path() / "site").string()})
                      .start());
  ASSERT_TRUE(server_->wait_for(Channel::err, ";")) << server_->read_so_far(Channel::err);
  const std::string& said = server_->read_so_far(Channel::err);
  port_ = static_cast<std::uint16_t>(std::stoi(said.substr(said.find(kBefore) + kBefore.size())));
}

void PackageIndex::end() {
  server_->signal(SIGKILL);
  (void)server_->finish();
  server_.reset();
}

int PackageIndex::requests(const std::string& path) {
  // Who was answered is in the log; this only reads it.
  (void)server_->wait_for(Channel::err, "never written", std::chrono::seconds(1));
  const std::string& log = server_->read_so_far(Channel::err);
  int count = 0;
  const std::string wanted = "GET " + path + " ";
  for (std::size_t at = log.find(wanted); at != std::string::npos; at = log.find(wanted, at + 1)) {
    ++count;
  }
  return count;
}

bool PackageIndex::is_asked_for(const std::string& path) {
  return server_->wait_for(Channel::err, "GET " + path + " ");
}

std::string policy_of_index(const std::string& kind, const std::string& urls,
                            const std::string& install) {
  return "schema = 1\n[network.install]\n" + kind + " = [" + urls + "]\n[install]\n" + install;
}

}  // namespace wardcase::test
