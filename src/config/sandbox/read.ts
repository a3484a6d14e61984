import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import { isError } from '../../base/yaml/finding.ts';
import { omitUndefined } from '../../base/yaml/present.ts';
import { choiceAt, entriesAt, itemsAt, nonEmptyTextAt, textAt, valueAt } from '../../base/yaml/read.ts';
import { findViolations, type Violation } from '../../base/yaml/violation.ts';
import type { CommandConfig, SandboxConfig } from '../sandbox.ts';
import { sandboxModes } from '../schema/sandbox.ts';
import { runtimeSchema } from '../schema/schema.ts';
import { clientOf, completeClient } from './clients.ts';
import { readContainer } from './containers.ts';
import { findSandboxFaults } from './faults.ts';

/** The sandboxes that a document declares, in its order. */
export function readSandboxes(document: YamlDocument): SandboxConfig[] {
  return entriesAt(document, ['spec', 'sandboxes']).map(({ name, path }) =>
    readSandbox(document, name, path),
  );
}

/** The sandbox of that name; undefined where none is declared. */
export function findSandbox(document: YamlDocument, name: string): SandboxConfig | undefined {
  const entry = entriesAt(document, ['spec', 'sandboxes']).find((candidate) => candidate.name === name);
  return entry && readSandbox(document, name, entry.path);
}

function readSandbox(document: YamlDocument, name: string, path: Path): SandboxConfig {
  const own = { name, position: document.positionOf([...path, 'mode']) };
  const mode = choiceAt(document, [...path, 'mode'], sandboxModes);
  const refused = (reason: string) => ({ ...own, mode: 'refused', reason }) as const;
  if (mode === undefined) {
    const asked = textAt(document, [...path, 'mode']);
    return refused(`its sandbox "${name}" ${asked ? `has mode ${asked}, which is none` : 'has no mode'}`);
  }
  if (mode === 'direct') return { ...own, mode };
  const fault = findFault(document, path);
  if (fault !== undefined) return refused(`its sandbox "${name}" cannot be used: ${fault}`);
  const list = (key: string) =>
    itemsAt(document, [...path, key]).flatMap((item) => textAt(document, item) ?? []);
  if (mode === 'bubblewrap') {
    const network = valueAt(document, [...path, 'network']) === true;
    return { ...own, mode, network, read: list('read'), write: list('write') };
  }
  if (mode !== 'command') {
    const line = readContainer(document, path, mode);
    return { ...own, ...complete(line, {}, mode === 'kubectl_exec' ? 'kubectl' : 'docker') };
  }
  const [program = '', ...rest] = list('prefix');
  const command = nonEmptyTextAt(document, [...path, 'command']);
  const line = command === undefined ? { command: program, args: rest } : { command, args: list('args') };
  const kill = list('kill');
  return {
    ...own,
    ...complete(line, {
      ...omitUndefined({
        env: choiceAt(document, [...path, 'env'], ['inherit', 'flags', 'stdin']),
        envFlag: nonEmptyTextAt(document, [...path, 'env_flag']),
        kill: kill.length === 0 ? undefined : kill,
      }),
    }),
  };
}

/** What the file says counts; what it leaves out is what a client of containers needs, if it is one. */
function complete(
  line: Pick<CommandConfig, 'command' | 'args'>,
  given: Partial<Pick<CommandConfig, 'env' | 'envFlag' | 'kill'>>,
  kind = clientOf(line.command),
): CommandConfig {
  const isOwn =
    given.env !== undefined ||
    given.kill !== undefined ||
    line.args.some((word) => /\$\{(?:id|env)\}/.test(word));
  const client = isOwn || kind === undefined ? undefined : completeClient(kind, line.command, line.args);
  const env = given.envFlag === undefined ? 'inherit' : 'flags';
  return { mode: 'command', ...line, env, envFlag: '-e', ...client, ...given };
}

/** Why a sandbox of a known mode cannot be used: a PromptKit file with such a fault loads nevertheless. */
function findFault(document: YamlDocument, path: Path): string | undefined {
  const own = violationsOf(document).find(
    (violation) => violation.kind !== 'key' && path.every((part, index) => part === violation.path[index]),
  );
  if (own !== undefined) return `${own.path.slice(path.length).join('.')} ${own.message}`;
  return findSandboxFaults(document, path).find(isError)?.message;
}

const violations = new WeakMap<YamlDocument, readonly Violation[]>();

function violationsOf(document: YamlDocument): readonly Violation[] {
  const known = violations.get(document) ?? findViolations(document.value, runtimeSchema);
  violations.set(document, known);
  return known;
}
