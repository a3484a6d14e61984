import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import { mappingAt } from '../../base/yaml/expressions.ts';
import { textAt, valueAt } from '../../base/yaml/read.ts';
import { readChat } from '../../pipelines/file/read-chat.ts';
import type { Subject } from '../file/model.ts';
import { besideFile } from '../file/paths.ts';

/** The variables of the expressions of a subject. */
export const subjectVariables: readonly string[] = ['case', 'epoch'];

/** The subject that a checked document declares at `path`. Call it only without errors. */
export function readSubject(document: YamlDocument, path: Path): Subject {
  const at = (key: string): Path => [...path, key];
  const mapping = (key: string) => mappingAt(document, at(key), subjectVariables);
  const cache = valueAt(document, at('cache'));
  const caching = typeof cache === 'boolean' ? { cache } : {};
  const tool = textAt(document, at('tool'));
  if (tool !== undefined) return { kind: 'tool', tool, args: mapping('args'), ...caching };
  const file = textAt(document, at('pipeline'));
  if (file === undefined) {
    return { kind: 'chat', chat: readChat(document, at('chat'), subjectVariables), ...caching };
  }
  return { kind: 'pipeline', file: besideFile(document.file, file), input: mapping('input'), ...caching };
}
