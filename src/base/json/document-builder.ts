import { type Json, toPlain } from './json.ts';

/** Members that a document shows as values while its text keeps their bytes. */
type Exact<Document> = Document extends object
  ? { readonly [Key in keyof Document]: Document[Key] | Json | null | Exact<Document[Key]> }
  : Document;

/** The document as plain values; `stringifyJson` still writes each Json part with its original bytes. */
export function toDocument<Document extends object>(tree: Exact<Document>): Document {
  // toPlain keeps every member and turns each Json into its value, which is what the two types say.
  return toPlain(tree as Readonly<Record<string, unknown>>) as Document;
}
