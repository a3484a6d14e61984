import { toDocument } from '../../base/json/document-builder.ts';
import { Json, stringifyJson } from '../../base/json/json.ts';
import { exactMembers } from '../../base/json/scan.ts';
import type { Redact } from '../../contract/scrub.ts';

/** The document with what is secret in its data hidden; the same one if there was nothing to hide. */
export function redactDocument<Document extends object>(document: Document, redact: Redact): Document {
  const text = stringifyJson(document);
  const shown = redact(text);
  if (shown === text) return document;
  // The shape is the same: only texts were hidden.
  return toDocument(Object.fromEntries(exactMembers(new Json(shown)))) as Document;
}
