import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import type { Finding } from '../../base/yaml/finding.ts';
import { choiceAt, itemsAt, textAt, valueAt } from '../../base/yaml/read.ts';

/** What is wrong with the sandbox at `path` that no schema can see. */
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
  const message = `must be a whole path, or one from this file’s folder: ~ is not expanded (got: ${text})`;
  return [{ path, message, hint: 'Write the home folder’s own path.' }];
}

function findCommandFaults(document: YamlDocument, path: Path): Finding[] {
  const has = (key: string) => valueAt(document, [...path, key]) !== undefined;
  if (has('command') === has('prefix')) {
    const message = has('command')
      ? 'command and prefix say the same: one of the two is enough'
      : 'mode command needs a command, or a prefix';
    const hint = 'For example: {mode: command, command: docker, args: [run, --rm, -i, python:3-slim]}.';
    return [{ path: [...path, has('command') ? 'prefix' : 'mode'], message, hint }];
  }
  const words = itemsAt(document, [...path, has('command') ? 'args' : 'prefix']);
  const hasNames = words.some((word) => textAt(document, word) === '${env}');
  const isFlags = textAt(document, [...path, 'env']) === 'flags' || has('env_flag');
  if (!isFlags || hasNames) return [];
  const message = 'flags for variables need a place: an item ${env} among the arguments';
  return [{ path: [...path, has('env') ? 'env' : 'env_flag'], message }];
}
