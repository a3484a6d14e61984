import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder whose tools write a line for each effect, with a store in Postgres. */
export interface Project {
  readonly folder: string;
  readonly config: string;
  pipeline(name: string, yaml: string): string;
  /** One line for each call of `note`. */
  effects(): string[];
  /** The path of a second config with another state store. */
  withStore(store: string): string;
  /** The same files elsewhere, as on another machine, with the same place for effects. */
  copy(): Project;
}

export interface ProjectOptions {
  readonly tools?: string;
  readonly spec?: string;
  readonly store?: string;
}

export function openProject({ tools = '', spec = '', store = inPostgres }: ProjectOptions = {}): Project {
  const base = mkdtempSync(join(tmpdir(), 'workers-'));
  const folder = join(base, 'project');
  const effects = join(base, 'effects');
  mkdirSync(folder);
  mkdirSync(effects);
  const tool = join(folder, 'note.sh');
  writeFileSync(tool, note);
  chmodSync(tool, 0o755);
  writeFileSync(join(folder, 'runtime.yaml'), runtimeYaml(effects, { tools, spec, store }));
  return projectIn(folder, effects);
}

function projectIn(folder: string, effects: string): Project {
  return {
    folder,
    config: join(folder, 'runtime.yaml'),
    pipeline: (name, yaml) => {
      const file = join(folder, `${name}.pipeline.yaml`);
      writeFileSync(
        file,
        `apiVersion: signalbox/v1\nkind: Pipeline\nmetadata: {name: ${name}}\nspec:\n${yaml}`,
      );
      return file;
    },
    effects: () =>
      existsSync(effects)
        ? readdirSync(effects)
            .toSorted()
            .flatMap((file) => readFileSync(join(effects, file), 'utf8').split('\n').filter(Boolean))
        : [],
    withStore: (store) => {
      const file = join(folder, 'other.yaml');
      const text = readFileSync(join(folder, 'runtime.yaml'), 'utf8');
      writeFileSync(file, text.replace(/state_store: .*/, `state_store: ${store}`));
      return file;
    },
    copy: () => {
      const other = join(mkdtempSync(join(tmpdir(), 'workers-')), 'elsewhere');
      cpSync(folder, other, { recursive: true });
      return projectIn(other, effects);
    },
  };
}

/** Appends `args.key` for each call, so two effects of one key are two lines. */
const note = `#!/bin/sh
request=$(cat)
case "$request" in *'"key":"'*) ;; *) exit 1 ;; esac
key=$(printf '%s' "$request" | sed 's/.*"key":"\\([^"]*\\)".*/\\1/')
printf '%s\\n' "$key" >> "$EFFECTS/notes"
printf '{"result": {"noted": true}}\\n'
`;

const inPostgres = '{type: postgres, url_env: DATABASE_URL}';

function runtimeYaml(effects: string, { tools, spec, store }: Required<ProjectOptions>): string {
  const exec = `exec: {command: ./note.sh, env: ["EFFECTS=${effects}"]}`;
  return `apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  state_store: ${store}
  tools:
    note: {idempotent: false, ${exec}}
    note_with_consent: {idempotent: false, approval: required, ${exec}}
    wait: {idempotent: true, exec: {command: sleep, args: ["600"]}}
${tools}${spec}`;
}
