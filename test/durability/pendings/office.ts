import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder with a state store and two tools that require approval and record their effects. */
export interface Office {
  readonly config: string;
  readonly state: string;
  /** The effects of `pay` with the number of the call. Each key has one file. */
  payments(): { readonly key: string; readonly n: string }[];
  paymentCalls(): number;
  /** The numbers of the calls for which `mail` acted, repetitions included. */
  mails(): string[];
}

export function openOffice(): Office {
  const folder = mkdtempSync(join(tmpdir(), 'pendings-'));
  const notes = join(folder, 'notes');
  mkdirSync(join(notes, 'paid'), { recursive: true });
  const tool = join(folder, 'act.py');
  writeFileSync(tool, act);
  chmodSync(tool, 0o755);
  const config = join(folder, 'runtime.yaml');
  writeFileSync(config, runtimeYaml(notes));
  const linesOf = (name: string) => {
    const file = join(notes, name);
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
  };
  return {
    config,
    state: join(folder, '.signalbox/state.db'),
    payments: () =>
      readdirSync(join(notes, 'paid')).map((key) => ({
        key,
        n: readFileSync(join(notes, 'paid', key), 'utf8'),
      })),
    paymentCalls: () => linesOf('calls').length,
    mails: () => linesOf('mails'),
  };
}

/** `pay` acts once for each key, `mail` at every call. */
const act = `#!/usr/bin/env python3
import json, os, sys

notes, kind = os.environ["NOTES"], sys.argv[1]


def note(name, line):
    with open(os.path.join(notes, name), "a") as file:
        file.write(line + "\\n")


for line in sys.stdin:
    request = json.loads(line)
    params = request["params"]
    n, first = str(params["args"]["n"]), True
    assert params["approval"]["decision"] == "approved"
    if kind == "pay":
        note("calls", n)
        try:
            with open(os.path.join(notes, "paid", params["idempotency_key"].replace("/", "_")), "x") as file:
                file.write(n)
        except FileExistsError:
            first = False
    else:
        note("mails", n)
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {"n": n, "first": first}}), flush=True)
`;

function runtimeYaml(notes: string): string {
  const exec = (kind: string) =>
    `exec: {command: ./act.py, args: [${kind}], runtime: server, env: ["NOTES=${notes}"]}`;
  return `apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  tools:
    pay: {idempotent: true, approval: required, ${exec('pay')}}
    mail: {idempotent: false, approval: required, ${exec('mail')}}
`;
}
