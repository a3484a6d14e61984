import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import { itemsAt, nonEmptyTextAt, textAt } from '../../base/yaml/read.ts';

/** A program and its arguments before the command. */
export interface ClientLine {
  readonly command: string;
  readonly args: readonly string[];
}

type Read = (key: string) => string | undefined;

/**
 * The client that a sandbox of PromptKit's modes starts. Source: `buildArgs` in sdk/examples/sandboxes/dockerrun/dockerrun.go,
 * dockerexec/dockerexec.go and kubectlexec/kubectlexec.go of AltairaLabs/PromptKit, and the keys that their `Factory` reads.
 */
export function readContainer(
  document: YamlDocument,
  path: Path,
  mode: 'docker_run' | 'docker_exec' | 'kubectl_exec',
): ClientLine {
  const read: Read = (key) => nonEmptyTextAt(document, [...path, key]);
  const list = (key: string) =>
    itemsAt(document, [...path, key]).flatMap((item) => textAt(document, item) ?? []);
  const extra = list('extra_args');
  switch (mode) {
    case 'docker_run': {
      const mounts = list('mounts').flatMap((mount) => ['-v', mount]);
      const args = ['run', '--rm', '-i', ...joined('--network', read('network')), ...mounts, ...extra];
      return { command: read('docker_path') ?? 'docker', args: [...args, read('image') ?? ''] };
    }
    case 'docker_exec': {
      const where = [...joined('--workdir', read('workdir')), ...joined('--user', read('user'))];
      const args = ['exec', '-i', ...where, ...extra, read('container') ?? ''];
      return { command: read('docker_path') ?? 'docker', args };
    }
    case 'kubectl_exec': {
      const global = [...joined('--kubeconfig', read('kubeconfig')), ...joined('--context', read('context'))];
      const where = [...pair('-n', read('namespace')), ...pair('-c', read('container'))];
      const args = [...global, 'exec', '-i', ...where, ...extra, read('pod') ?? '', '--'];
      return { command: read('kubectl_path') ?? 'kubectl', args };
    }
  }
}

function joined(flag: string, value: string | undefined): string[] {
  return value === undefined ? [] : [`${flag}=${value}`];
}

function pair(flag: string, value: string | undefined): string[] {
  return value === undefined ? [] : [flag, value];
}
