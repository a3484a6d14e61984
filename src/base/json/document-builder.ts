import { type Json, toPlain } from './json.ts';

type Exact<Document> = Document extends object
  ? { readonly [Key in keyof Document]: Document[Key] | Json | null | Exact<Document[Key]> }
  : Document;

/** Converts `Json` parts to plain values; `stringifyJson` still writes their original bytes. */
export function toDocument<Document extends object>(tree: Exact<Document>): Document {
  return toPlain(tree as Readonly<Record<string, unknown>>) as Document;
}
