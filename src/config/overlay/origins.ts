import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import type { SourceLocation } from '../../base/yaml/problem.ts';
import { keysIn, valueAt } from '../../base/yaml/read.ts';
import { describePath } from '../../base/yaml/schema-path.ts';
import type { Variables } from '../environment/fill.ts';
import { readEnvironment } from '../environment/read.ts';
import { runtimeSchema } from '../schema.ts';
import { readConfigDocument } from './read.ts';

/** The origin of a config value. It never contains the value, which may be a secret. */
export interface ValueOrigin extends SourceLocation {
  /** The name in problems, such as `providers[main].model`. */
  readonly path: string;
  readonly variables: readonly string[];
}

/** The origins of all values of a config and its overlays, in file order. Throws FILE_UNREADABLE. */
export function findOrigins(
  file: string,
  {
    overlays = [],
    env,
    folder,
  }: { readonly overlays?: readonly string[]; readonly env: Variables; readonly folder: string },
): ValueOrigin[] {
  const document = readConfigDocument(file, overlays);
  const { filled } = readEnvironment(document, folder, env).filled;
  const names = new Map(filled.map((each) => [JSON.stringify(each.path), each.names]));
  return leavesAt(document, []).map((path) => ({
    path: describePath(path, runtimeSchema),
    ...document.positionOf(path),
    variables: names.get(JSON.stringify(path)) ?? [],
  }));
}

function leavesAt(document: YamlDocument, path: Path): Path[] {
  const value = valueAt(document, path);
  const keys = typeof value === 'object' && !Array.isArray(value) ? document.keysOf(path) : keysIn(value);
  return keys.length === 0 ? [path] : keys.flatMap((key) => leavesAt(document, [...path, key]));
}
