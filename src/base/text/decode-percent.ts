/** The text with its percent escapes decoded; as it is, where one of them is none. */
export function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
