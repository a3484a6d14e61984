import { type Fields, usual } from '../base/yaml/fields.ts';
import type { SourceLocation } from '../base/yaml/problem.ts';

/** An entry of `spec.sandboxes`; paths and programs are not resolved. */
export type SandboxConfig = { readonly name: string; readonly position: SourceLocation } & (
  | { readonly mode: 'direct' }
  | BubblewrapConfig
  | CommandConfig
  | { readonly mode: 'refused'; readonly reason: string }
);

interface BubblewrapConfig extends Fields<typeof keysOfMode.bubblewrap> {
  readonly mode: 'bubblewrap';
}

/** A program that runs commands; PromptKit's modes are converted to one. */
export interface CommandConfig {
  readonly mode: 'command';
  /** A path relative to the file's folder, or a name on PATH. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: 'inherit' | 'flags' | 'stdin';
  readonly envFlag: string;
  readonly kill?: readonly string[];
}

const text = { type: 'string', minLength: 1 } as const;
const texts = { type: 'array', items: { type: 'string', [usual]: '' } } as const;
const list = { ...texts, [usual]: [] } as const;

const docker = { ...text, [usual]: 'docker' } as const;

/** The keys of each mode other than `mode`, with their shapes. */
export const keysOfMode = {
  direct: {},
  bubblewrap: { network: { type: 'boolean', [usual]: false }, read: list, write: list },
  command: {
    ...{ command: text, args: list, prefix: { ...list, minItems: 1 } },
    ...{
      env: { enum: ['inherit', 'flags', 'stdin'] as const },
      env_flag: text,
      kill: { ...texts, minItems: 1 },
    },
  },
  docker_run: { image: text, network: text, mounts: list, extra_args: list, docker_path: docker },
  docker_exec: { container: text, workdir: text, user: text, extra_args: list, docker_path: docker },
  kubectl_exec: {
    ...{ pod: text, namespace: text, container: text, kubeconfig: text, context: text },
    ...{ extra_args: list, kubectl_path: { ...text, [usual]: 'kubectl' } },
  },
} as const;

const requiredOfMode: Readonly<Partial<Record<SandboxMode, string>>> = {
  docker_run: 'image',
  docker_exec: 'container',
  kubectl_exec: 'pod',
};

export type SandboxMode = keyof typeof keysOfMode;

/** Known modes; the last three come from PromptKit's examples. */
export const sandboxModes: readonly SandboxMode[] = [
  ...(['direct', 'bubblewrap', 'command'] as const),
  ...(['docker_run', 'docker_exec', 'kubectl_exec'] as const),
];

const ruleOf = (mode: SandboxMode) => {
  const needed = requiredOfMode[mode];
  return {
    if: { properties: { mode: { const: mode } }, required: ['mode'] },
    // biome-ignore lint/suspicious/noThenProperty: JSON Schema's word.
    then: {
      additionalProperties: false,
      properties: { mode: {}, ...keysOfMode[mode] },
      ...(needed !== undefined && { required: [needed] }),
    },
  };
};

/** A sandbox of an unknown mode may have any keys, but nothing ever starts in it. */
export const sandboxSchema = {
  type: ['object', 'null'],
  description: 'A way to start processes, for entries that name it.',
  required: ['mode'],
  properties: {
    mode: {
      type: 'string',
      minLength: 1,
      description:
        'direct: no sandbox. bubblewrap: a restricted view of this machine, without network. command: a program that runs the command of the entry. docker_run, docker_exec, kubectl_exec: PromptKit’s modes, with its keys. An entry that names a sandbox of another mode never starts.',
    },
    network: {
      description:
        'bubblewrap: true gives it the network of this machine; default: false. docker_run: the value of --network.',
    },
    read: {
      description:
        'bubblewrap: files and folders, relative to this file’s folder, that may be read in addition to the system’s, this file’s folder and the program.',
    },
    write: { description: 'bubblewrap: files and folders that may be read and written.' },
    command: {
      description: 'command: the program, which receives `args` and then the command of the entry.',
    },
    args: {
      description:
        'command: its arguments before the command of the entry. `${id}` is replaced by a name of the call, and an item `${env}` by the flags for variables.',
    },
    prefix: {
      description: 'command: the program and its arguments as one list, instead of `command` and `args`.',
    },
    env: {
      description:
        'command: how the variables of an entry’s `env` reach the command. inherit: as variables of the program. flags: as `env_flag` and each name, at `${env}`. stdin: through a shell where the command runs. Default: what docker, podman, nerdctl and kubectl need, otherwise inherit.',
    },
    env_flag: { description: 'command: the flag before each name. Default: -e.' },
    kill: {
      description:
        'command: a program and its arguments, with `${id}`, that ends the command where it runs, for example after a timeout. Default: what docker, podman, nerdctl and kubectl need, otherwise none.',
    },
    image: { description: 'docker_run: the image.' },
    mounts: { description: 'docker_run: values of -v.' },
    container: { description: 'docker_exec: the container; kubectl_exec: the container in the pod.' },
    workdir: { description: 'docker_exec: the value of --workdir.' },
    user: { description: 'docker_exec: the value of --user.' },
    pod: { description: 'kubectl_exec: the pod.' },
    namespace: { description: 'kubectl_exec: the value of -n.' },
    kubeconfig: { description: 'kubectl_exec: the value of --kubeconfig.' },
    context: { description: 'kubectl_exec: the value of --context.' },
    extra_args: { description: 'Further flags of docker or kubectl.' },
    docker_path: { description: 'The program to use instead of docker.' },
    kubectl_path: { description: 'The program to use instead of kubectl.' },
  },
  allOf: sandboxModes.map(ruleOf),
} as const;
