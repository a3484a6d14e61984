/** The values of headers that hold credentials: `Bearer KEY` as a whole, and KEY by itself. */
export function secretsOfHeaders(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).flatMap(([name, value]) => (isSecretHeader(name) ? partsOf(value) : []));
}

function isSecretHeader(name: string): boolean {
  return /auth|key|token|secret|cookie|passw|credential|signature/i.test(name);
}

function partsOf(value: string): string[] {
  return [value, ...value.split(/[\s;,=]+/)];
}
