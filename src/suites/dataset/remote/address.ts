import { isLoopbackName } from '../../../base/text/url.ts';

/** Whether a path of a dataset is an address of something that another machine serves. */
export function isRemote(path: string): boolean {
  return /^(?:https?|s3):\/\//i.test(path);
}

/** How messages, reports and stores call what is behind an address: without what may be secret, such as the signature in a query. */
export function remoteName(path: string): string {
  if (isS3(path)) return path;
  const url = URL.parse(path);
  return url === null ? path.replace(/[?#].*$/s, '') : `${url.origin}${url.pathname}`;
}

/** Of a path or an address, what an extension can be looked for in. */
export function nameOf(path: string): string {
  return isRemote(path) ? remoteName(path) : path;
}

export function isS3(path: string): boolean {
  return /^s3:\/\//i.test(path);
}

/** Why an address cannot be read, to stand after its name; undefined when it can be tried. */
export function whyUnusable(path: string): string | undefined {
  if (isS3(path)) return whyNoKey(path);
  const url = URL.parse(path);
  if (url === null) return 'is no address';
  return isSafe(url) ? undefined : 'would be read in plain text, which anybody on the way could change';
}

function whyNoKey(path: string): string | undefined {
  const found = parseS3(path);
  if (found === undefined) return 'has no bucket and key, as in s3://BUCKET/KEY';
  const isStep = (part: string) => part === '.' || part === '..';
  return found.key.split('/').some(isStep) ? 'has a key with a part that addresses leave out' : undefined;
}

/** Encrypted, or of this machine. */
export function isSafe(url: URL): boolean {
  return url.protocol === 'https:' || isLoopbackName(url.host);
}

/** The bucket, and the key as it is: nothing in `s3://BUCKET/KEY` is encoded. */
export function parseS3(path: string): { readonly bucket: string; readonly key: string } | undefined {
  const [, bucket, key] = /^s3:\/\/([^/]+)\/(.+)$/is.exec(path) ?? [];
  return bucket === undefined || key === undefined ? undefined : { bucket, key };
}
