/**
 * What the filter knows, one row per entity: its name in a sentence, whether it is looked for unless
 * something else is asked for, and whether a checksum, a registry or a fixed shape confirms it.
 */
export const entities = {
  CREDIT_CARD: { one: 'credit card', many: 'credit cards', isDefault: true, isConfirmed: true },
  IBAN_CODE: { one: 'IBAN', many: 'IBANs', isDefault: true, isConfirmed: true },
  US_SSN: {
    one: 'social security number',
    many: 'social security numbers',
    isDefault: true,
    isConfirmed: true,
  },
  PRIVATE_KEY: { one: 'private key', many: 'private keys', isDefault: true, isConfirmed: true },
  API_KEY: { one: 'API key', many: 'API keys', isDefault: true, isConfirmed: true },
  SECRET: { one: 'secret', many: 'secrets', isDefault: true, isConfirmed: true },
  URL_CREDENTIALS: {
    one: 'login in a URL',
    many: 'logins in URLs',
    isDefault: true,
    isConfirmed: true,
  },
  EMAIL_ADDRESS: { one: 'email address', many: 'email addresses', isDefault: true, isConfirmed: true },
  IP_ADDRESS: { one: 'IP address', many: 'IP addresses', isDefault: true, isConfirmed: true },
  MAC_ADDRESS: { one: 'MAC address', many: 'MAC addresses', isDefault: true, isConfirmed: true },
  DATE_OF_BIRTH: { one: 'date of birth', many: 'dates of birth', isDefault: true, isConfirmed: true },
  PHONE_NUMBER: { one: 'phone number', many: 'phone numbers', isDefault: true, isConfirmed: false },
  DOMAIN_NAME: { one: 'web address', many: 'web addresses', isDefault: false, isConfirmed: false },
  AGE: { one: 'age', many: 'ages', isDefault: false, isConfirmed: false },
  ZIP_CODE: { one: 'postal code', many: 'postal codes', isDefault: false, isConfirmed: false },
  STREET_ADDRESS: {
    one: 'street address',
    many: 'street addresses',
    isDefault: false,
    isConfirmed: false,
  },
  PERSON: { one: 'name of a person', many: 'names of persons', isDefault: false, isConfirmed: false },
  LOCATION: { one: 'place name', many: 'place names', isDefault: false, isConfirmed: false },
} as const satisfies Record<string, EntityRow>;

interface EntityRow {
  readonly one: string;
  readonly many: string;
  readonly isDefault: boolean;
  readonly isConfirmed: boolean;
}

export type Entity = keyof typeof entities;

export const entityNames: readonly Entity[] = Object.keys(entities).filter(isEntity);

export const defaultEntities: readonly Entity[] = entityNames.filter((name) => entities[name].isDefault);

export function isEntity(name: string): name is Entity {
  return Object.hasOwn(entities, name);
}

/** How often each entity was found; entities that were not found are absent. */
export type Counts = Partial<Record<Entity, number>>;

/** "2 credit cards and 1 email address". */
export function describeCounts(counts: Counts): string {
  const parts = entityNames.flatMap((name) => {
    const count = counts[name] ?? 0;
    if (count === 0) return [];
    return [`${count} ${count === 1 ? entities[name].one : entities[name].many}`];
  });
  return new Intl.ListFormat('en', { type: 'conjunction' }).format(parts);
}
