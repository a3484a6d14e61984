/** How long an API asks to wait, in milliseconds: `retry-after-ms`, or `retry-after` in seconds or as a date (RFC 9110, 10.2.3). */
export function readRetryAfter(headers: Readonly<Record<string, unknown>>): number | undefined {
  const exact = Number.parseFloat(String(headers['retry-after-ms']));
  if (exact >= 0) return Math.round(exact);
  const text = String(headers['retry-after'] ?? '').trim();
  if (/^\d+(\.\d+)?$/.test(text)) return Math.round(Number(text) * 1_000);
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}
