import { isLoopbackName } from '../../../base/text/url.ts';

export function isRemote(path: string): boolean {
  return /^(?:https?|s3):\/\//i.test(path);
}

/** The address without possible secrets such as a signed query, for messages, reports and stores. */
export function remoteName(path: string): string {
  if (isS3(path)) return path;
  const url = URL.parse(path);
  return url === null ? path.replace(/[?#].*$/s, '') : `${url.origin}${url.pathname}`;
}

export function nameOf(path: string): string {
  return isRemote(path) ? remoteName(path) : path;
}

export function isS3(path: string): boolean {
  return /^s3:\/\//i.test(path);
}

/** Why an address cannot be read, as the end of a sentence; undefined if it may be usable. */
export function whyUnusable(path: string): string | undefined {
  if (isS3(path)) return whyNoKey(path);
  const url = URL.parse(path);
  if (url === null) return 'is not a valid address';
  return isSafe(url) ? undefined : 'uses plain HTTP, so anybody on the network could change the data';
}

function whyNoKey(path: string): string | undefined {
  const found = parseS3(path);
  if (found === undefined) return 'has no bucket and key, as in s3://BUCKET/KEY';
  const isStep = (part: string) => part === '.' || part === '..';
  return found.key.split('/').some(isStep)
    ? 'has a key with a `.` or `..` part, which addresses drop'
    : undefined;
}

export function isSafe(url: URL): boolean {
  return url.protocol === 'https:' || isLoopbackName(url.host);
}

/** Keys are not URL-encoded in `s3://BUCKET/KEY`. */
export function parseS3(path: string): { readonly bucket: string; readonly key: string } | undefined {
  const [, bucket, key] = /^s3:\/\/([^/]+)\/(.+)$/is.exec(path) ?? [];
  return bucket === undefined || key === undefined ? undefined : { bucket, key };
}
