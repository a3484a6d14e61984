/** A time by RFC 3339, in ms since 1970; undefined for any other text, and for one without its zone. */
export function parseTime(text: string): number | undefined {
  if (!rfc3339.test(text)) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;
