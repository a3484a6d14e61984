import { basename } from 'node:path';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import { readFields } from '../../base/yaml/fields.ts';
import { type Finding, isError } from '../../base/yaml/finding.ts';
import { choiceAt, entriesAt, itemsAt, textAt, valueAt } from '../../base/yaml/read.ts';
import { findViolations, type Violation } from '../../base/yaml/violation.ts';
import { type CommandConfig, keysOfMode, type SandboxConfig, sandboxModes } from '../sandbox.ts';
import { runtimeSchema } from '../schema.ts';

export function readSandboxes(document: YamlDocument): SandboxConfig[] {
  return entriesAt(document, ['spec', 'sandboxes']).map(({ name, path }) =>
    readSandbox(document, name, path),
  );
}

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
    return refused(`its sandbox "${name}" ${asked ? `has the unknown mode ${asked}` : 'has no mode'}`);
  }
  if (mode === 'direct') return { ...own, mode };
  const fault = findFault(document, path);
  if (fault !== undefined) return refused(`its sandbox "${name}" cannot be used: ${fault}`);
  if (mode === 'bubblewrap') return { ...own, mode, ...readFields(document, path, keysOfMode.bubblewrap) };
  if (mode !== 'command') {
    const line = readContainer(document, path, mode);
    return { ...own, ...complete(line, {}, mode === 'kubectl_exec' ? 'kubectl' : 'docker') };
  }
  const { command, args, prefix, ...given } = readFields(document, path, keysOfMode.command);
  const [program = '', ...rest] = prefix;
  const line = command === undefined ? { command: program, args: rest } : { command, args };
  return { ...own, ...complete(line, given) };
}

/** Adds what a container client needs, unless the file sets it. */
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

/** Why a sandbox of a known mode is unusable; a PromptKit file with such a fault still loads. */
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

interface ClientLine {
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * The client for PromptKit's sandbox modes. Source: `buildArgs` in sdk/examples/sandboxes/dockerrun/dockerrun.go,
 * dockerexec/dockerexec.go and kubectlexec/kubectlexec.go of AltairaLabs/PromptKit, and the keys that their `Factory`
 * reads.
 */
function readContainer(
  document: YamlDocument,
  path: Path,
  mode: 'docker_run' | 'docker_exec' | 'kubectl_exec',
): ClientLine {
  switch (mode) {
    case 'docker_run': {
      const { dockerPath: command, image = '', ...flags } = readFields(document, path, keysOfMode[mode]);
      const mounts = flags.mounts.flatMap((mount) => ['-v', mount]);
      const own = ['run', '--rm', '-i', ...joined('--network', flags.network), ...mounts];
      return { command, args: [...own, ...flags.extraArgs, image] };
    }
    case 'docker_exec': {
      const { dockerPath: command, container = '', ...flags } = readFields(document, path, keysOfMode[mode]);
      const where = [...joined('--workdir', flags.workdir), ...joined('--user', flags.user)];
      return { command, args: ['exec', '-i', ...where, ...flags.extraArgs, container] };
    }
    case 'kubectl_exec': {
      const { kubectlPath: command, pod = '', ...flags } = readFields(document, path, keysOfMode[mode]);
      const global = [...joined('--kubeconfig', flags.kubeconfig), ...joined('--context', flags.context)];
      const where = [...pair('-n', flags.namespace), ...pair('-c', flags.container)];
      return { command, args: [...global, 'exec', '-i', ...where, ...flags.extraArgs, pod, '--'] };
    }
  }
}

function joined(flag: string, value: string | undefined): string[] {
  return value === undefined ? [] : [`${flag}=${value}`];
}

function pair(flag: string, value: string | undefined): string[] {
  return value === undefined ? [] : [flag, value];
}

type Completed = Pick<CommandConfig, 'args' | 'env' | 'kill'>;

type Client = 'docker' | 'kubectl';

function clientOf(command: string): Client | undefined {
  const name = basename(command);
  if (name === 'kubectl') return 'kubectl';
  return ['docker', 'podman', 'nerdctl'].includes(name) ? 'docker' : undefined;
}

/**
 * Adds arguments that pass variables to the command, and a way to end it with its call. `${id}` and `${env}` mark their
 * places. Undefined if the arguments neither run nor enter a container. Source: the `--help` of `docker run`, `docker
 * exec` and `kubectl exec`.
 */
function completeClient(client: Client, command: string, args: readonly string[]): Completed | undefined {
  const at = args.findIndex((word) => word === 'run' || word === 'exec');
  if (at === -1) return undefined;
  const [global, verb, rest] = [args.slice(0, at), args[at] ?? '', args.slice(at + 1)];
  if (client === 'kubectl') return verb === 'exec' ? completeKubectl(command, args) : undefined;
  const flags = [...global, verb];
  if (verb === 'exec') {
    const marked = [...flags, '-e', MARK, '${env}', ...rest];
    return { args: marked, env: 'flags', kill: [command, ...flags, ...withoutStdin(rest), ...killer] };
  }
  const named = nameIn(rest);
  const own = named === undefined ? ['--name', NAME] : [];
  return {
    args: [...flags, ...own, '${env}', ...rest],
    env: 'flags',
    kill: [command, ...global, 'kill', named ?? NAME],
  };
}

/** kubectl has no flag for variables, so a shell in the container sets them. */
function completeKubectl(command: string, args: readonly string[]): Completed {
  const end = args.indexOf('--');
  const upTo = end === -1 ? args : args.slice(0, end);
  return {
    args: [...upTo, '--', 'env', MARK, ...(end === -1 ? [] : args.slice(end + 1))],
    env: 'stdin',
    kill: [command, ...withoutStdin(upTo), '--', ...killer],
  };
}

const NAME = 'signalbox-${id}';
const MARK = 'SIGNALBOX_CALL=${id}';

/** Ends every process in the container whose environment has the call's mark, also in other sessions. */
const killer = [
  'sh',
  '-c',
  'for p in /proc/[0-9]*; do tr "\\0" "\\n" <"$p/environ" 2>/dev/null | grep -qx "$1" && kill -9 "${p#/proc/}"; done; :',
  'signalbox-end',
  MARK,
];

function nameIn(args: readonly string[]): string | undefined {
  const joined = args.find((word) => word.startsWith('--name='));
  if (joined !== undefined) return joined.slice('--name='.length);
  const at = args.indexOf('--name');
  return at === -1 ? undefined : args[at + 1];
}

function withoutStdin(args: readonly string[]): string[] {
  return args.filter((word) => word !== '-i' && word !== '--interactive' && word !== '--stdin');
}

/** Problems that the schema cannot express. */
export function findSandboxFaults(document: YamlDocument, path: Path): Finding[] {
  switch (choiceAt(document, [...path, 'mode'], ['bubblewrap', 'command'])) {
    case 'bubblewrap':
      return ['read', 'write'].flatMap((key) =>
        itemsAt(document, [...path, key]).flatMap((item) => findPathFault(document, item)),
      );
    case 'command':
      return findCommandFaults(document, path);
    default:
      return [];
  }
}

function findPathFault(document: YamlDocument, path: Path): Finding[] {
  const text = textAt(document, path) ?? '';
  if (text === '' || text.includes('\0')) return [{ path, message: 'must be a path' }];
  if (!text.startsWith('~')) return [];
  const message = `must be an absolute path, or one relative to this file’s folder: ~ is not expanded (got: ${text})`;
  return [{ path, message, hint: 'Write out the path of the home folder.' }];
}

function findCommandFaults(document: YamlDocument, path: Path): Finding[] {
  const has = (key: string) => valueAt(document, [...path, key]) !== undefined;
  if (has('command') === has('prefix')) {
    const message = has('command')
      ? 'command and prefix cannot be combined'
      : 'mode command needs a command or a prefix';
    const hint = 'For example: {mode: command, command: docker, args: [run, --rm, -i, python:3-slim]}.';
    return [{ path: [...path, has('command') ? 'prefix' : 'mode'], message, hint }];
  }
  const words = itemsAt(document, [...path, has('command') ? 'args' : 'prefix']);
  const hasNames = words.some((word) => textAt(document, word) === '${env}');
  const isFlags = textAt(document, [...path, 'env']) === 'flags' || has('env_flag');
  if (!isFlags || hasNames) return [];
  const message = 'flags for variables need an item ${env} among the arguments';
  return [{ path: [...path, has('env') ? 'env' : 'env_flag'], message }];
}
