import { readDocument, type YamlDocument } from '../../base/yaml/document.ts';
import { isAt } from '../../base/yaml/read.ts';
import { mergeDocuments } from './merge.ts';

/** The document of a RuntimeConfig file with its overlays; providers are told apart by their ids. Throws FILE_UNREADABLE. */
export function readConfigDocument(file: string, overlays: readonly string[]): YamlDocument {
  return overlays
    .map(readDocument)
    .reduce(
      (base, overlay) =>
        mergeDocuments(base, overlay, (path) => (isAt(path, 'spec.providers') ? 'id' : undefined)),
      readDocument(file),
    );
}
