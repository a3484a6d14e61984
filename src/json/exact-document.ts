import { type Json, toPlain } from './json.ts';

/** Members that a document shows as values while its text keeps their bytes. */
type Exact<Document> = Document extends object
  ? { readonly [Key in keyof Document]: Document[Key] | Json | null | Exact<Document[Key]> }
  : Document;

/** A document as plain values; written down again, its parts still have the bytes that they came with. */
export function document<Document extends object>(tree: Exact<Document>): Document {
  // toPlain keeps every member and turns each Json into its value, which is what the two types say.
  return toPlain(tree as Readonly<Record<string, unknown>>) as Document;
}
