// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Kubernetes manifests by the schemas of its API, as the package kubernetes-models has them.
// Its validators know types, enumerations and formats, but let unknown keys pass; its
// types, for the TypeScript compiler, know those.
//
// usage: node check.js MANIFEST...     in a directory with node_modules
// Prints what is wrong, a line each, and exits 1 if anything is.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { createRequire } = require("node:module");

const require_there = createRequire(path.join(process.cwd(), "index.js"));
const yaml = require_there("js-yaml");
const ts = require_there("typescript");

// "apps/v1", "Deployment" -> kubernetes-models/apps/v1/Deployment
function moduleOf(document) {
  return `kubernetes-models/${document.apiVersion}/${document.kind}`;
}

function validate(document) {
  try {
    const model = require_there(moduleOf(document))[document.kind];
    new model(document).validate();
    return [];
  } catch (error) {
    return [error.code === "MODULE_NOT_FOUND" ? "there is no such kind" : error.message];
  }
}

// One source for all documents: the compiler's start is what costs.
function compile(documents) {
  const text = documents
    .map((document, i) => {
      const type = `import type { I${document.kind} as T${i} } from ${JSON.stringify(moduleOf(document))};`;
      return `${type} export const d${i}: T${i} = ${JSON.stringify(document)};`;
    })
    .join("\n");
  const name = path.join(process.cwd(), "manifests.ts");
  fs.writeFileSync(name, text);
  const options = {
    noEmit: true, strict: true, types: [], skipLibCheck: true,
    module: ts.ModuleKind.CommonJS, moduleResolution: ts.ModuleResolutionKind.Node10,
  };
  const found = documents.map(() => []);
  for (const diagnostic of ts.getPreEmitDiagnostics(ts.createProgram([name], options))) {
    const line = diagnostic.file ? diagnostic.file.getLineAndCharacterOfPosition(diagnostic.start).line : 0;
    found[line].push(ts.flattenDiagnosticMessageText(diagnostic.messageText, " "));
  }
  return found;
}

function check(documents) {
  const known = documents.map(validate);
  const compilable = documents.filter((_, i) => !known[i].includes("there is no such kind"));
  const compiled = compile(compilable);
  return documents.map((document, i) => {
    const at = compilable.indexOf(document);
    return known[i].concat(at < 0 ? [] : compiled[at]);
  });
}

// What must be found in a Deployment that is otherwise right.
const SPOILS = {
  "an unknown key": (d) => { d.spec.template.spec.hostUser = false; },
  "an unknown key of a container": (d) => { d.spec.template.spec.containers[0].securityContext.procmount = "Unmasked"; },
  "a value that is not in the list": (d) => { d.spec.template.spec.containers[0].securityContext.procMount = "Open"; },
  "text for a number": (d) => { d.spec.replicas = "two"; },
  "a missing key": (d) => { delete d.spec.selector; },
  "a quantity that is none": (d) => { d.spec.template.spec.containers[0].resources.limits.memory = "4 GiB"; },
  "a kind that is not there": (d) => { d.kind = "Deploymint"; },
};

const read = process.argv.slice(2).flatMap((file) =>
  yaml.loadAll(fs.readFileSync(file, "utf8")).map((document) => ({ file, document })));
const deployment = read.map((each) => each.document).find((document) => document.kind === "Deployment");
const spoiled = Object.entries(SPOILS).map(([what, spoil]) => {
  const copy = structuredClone(deployment);
  spoil(copy);
  return { what, copy };
});
const results = check(read.map((each) => each.document).concat(spoiled.map((each) => each.copy)));
let wrong = 0;
read.forEach(({ file, document }, i) => {
  for (const message of results[i]) {
    console.log(`${file}: ${document.kind}: ${message}`);
    wrong += 1;
  }
});
spoiled.forEach(({ what }, i) => {
  if (results[read.length + i].length === 0) {
    console.log(`this check does not see ${what}`);
    wrong += 1;
  }
});
process.exit(wrong ? 1 : 0);
