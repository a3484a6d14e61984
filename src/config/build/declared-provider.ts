import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import { itemsAt, nonEmptyTextAt, textAt } from '../../base/yaml/read.ts';

/** A provider as far as others may lean on it. */
export interface DeclaredProvider {
  readonly path: Path;
  readonly id: string;
  readonly type: string;
  readonly role: string;
  readonly fallback: readonly { readonly path: Path; readonly name: string }[];
}

/** The providers of a document that need not be valid. */
export function readDeclared(document: YamlDocument): DeclaredProvider[] {
  return itemsAt(document, ['spec', 'providers']).map((path) => {
    const type = nonEmptyTextAt(document, [...path, 'type']) ?? '';
    const fallback = itemsAt(document, [...path, 'fallback']).flatMap((item) => {
      const name = textAt(document, item);
      return name === undefined ? [] : [{ path: item, name }];
    });
    const id = nonEmptyTextAt(document, [...path, 'id']) ?? type;
    const role = nonEmptyTextAt(document, [...path, 'role']) ?? 'llm';
    return { path, id, type, role, fallback };
  });
}
