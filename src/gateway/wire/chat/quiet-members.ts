import { isPlainId } from '../plain-id.ts';

/** What `service_tier` may say. */
export const serviceTiers: ReadonlySet<string> = new Set([
  'auto',
  'default',
  'fast',
  'flex',
  'on_demand',
  'priority',
  'scale',
  'standard',
]);

/** Whether a member beside the choices of a frame is an id, a figure or a known word, and so no text. */
export function isQuietMember(key: string, value: unknown): boolean {
  if (value === undefined || value === null) return true;
  switch (key) {
    case 'id':
    case 'model':
    case 'system_fingerprint':
      return typeof value === 'string' && (value === '' || isPlainId(value));
    case 'object':
      return value === 'chat.completion.chunk';
    case 'created':
      return typeof value === 'number';
    case 'service_tier':
      return typeof value === 'string' && serviceTiers.has(value);
    case 'obfuscation':
      return typeof value === 'string' && /^[A-Za-z0-9]{0,64}$/.test(value);
    default:
      return false;
  }
}
