import { isObject } from '../../base/json/json.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import { itemsAt, valueAt } from '../../base/yaml/read.ts';

export const evalsPath: Path = ['spec', 'evals'];
export const gatesPath: Path = ['spec', 'gates'];
export const casePath: Path = ['spec', 'case'];
export const subjectPath: Path = ['spec', 'subject'];

/** The ids of the suite's evals, and where they stand. */
export function evalIds(document: YamlDocument): { path: Path; id: string }[] {
  return itemsAt(document, evalsPath).flatMap((item) => {
    const id = valueAt(document, [...item, 'id']);
    return typeof id === 'string' ? [{ path: [...item, 'id'], id }] : [];
  });
}

/** Every check of the suite: evals, and the parts of those that are combinations. */
export function checksIn(document: YamlDocument): Path[] {
  return itemsAt(document, evalsPath).flatMap((item) => checksBelow(document, item));
}

function checksBelow(document: YamlDocument, path: Path): Path[] {
  const node = valueAt(document, path);
  if (!isObject(node)) return [];
  const parts = [
    ...('not' in node ? [[...path, 'not']] : []),
    ...itemsAt(document, [...path, 'any_of']),
    ...itemsAt(document, [...path, 'all_of']),
  ];
  return [...('type' in node ? [path] : []), ...parts.flatMap((part) => checksBelow(document, part))];
}

/** The paths of all thresholds. */
export function thresholdsIn(document: YamlDocument): Path[] {
  const below = (path: Path): Path[] => {
    const node = valueAt(document, path);
    if (!isObject(node)) return [];
    const parts = [[...path, 'not'], ...itemsAt(document, [...path, 'any_of'])];
    return [[...path, 'threshold'], ...[...parts, ...itemsAt(document, [...path, 'all_of'])].flatMap(below)];
  };
  return [...itemsAt(document, evalsPath).flatMap(below), [...casePath, 'threshold']];
}
