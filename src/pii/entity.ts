/**
 * The kinds of personal data: their names in a sentence, whether they are looked for by default, and whether
 * a checksum, a registry or a fixed shape confirms a finding.
 */
const entities = {
  CREDIT_CARD: { singular: 'credit card', plural: 'credit cards', isDefault: true, isConfirmed: true },
  IBAN_CODE: { singular: 'IBAN', plural: 'IBANs', isDefault: true, isConfirmed: true },
  US_SSN: {
    singular: 'social security number',
    plural: 'social security numbers',
    isDefault: true,
    isConfirmed: true,
  },
  PRIVATE_KEY: { singular: 'private key', plural: 'private keys', isDefault: true, isConfirmed: true },
  API_KEY: { singular: 'API key', plural: 'API keys', isDefault: true, isConfirmed: true },
  SECRET: { singular: 'secret', plural: 'secrets', isDefault: true, isConfirmed: true },
  URL_CREDENTIALS: {
    singular: 'login in a URL',
    plural: 'logins in URLs',
    isDefault: true,
    isConfirmed: true,
  },
  EMAIL_ADDRESS: { singular: 'email address', plural: 'email addresses', isDefault: true, isConfirmed: true },
  IP_ADDRESS: { singular: 'IP address', plural: 'IP addresses', isDefault: true, isConfirmed: true },
  MAC_ADDRESS: { singular: 'MAC address', plural: 'MAC addresses', isDefault: true, isConfirmed: true },
  DATE_OF_BIRTH: { singular: 'date of birth', plural: 'dates of birth', isDefault: true, isConfirmed: true },
  PHONE_NUMBER: { singular: 'phone number', plural: 'phone numbers', isDefault: true, isConfirmed: false },
  DOMAIN_NAME: { singular: 'web address', plural: 'web addresses', isDefault: false, isConfirmed: false },
  AGE: { singular: 'age', plural: 'ages', isDefault: false, isConfirmed: false },
  ZIP_CODE: { singular: 'postal code', plural: 'postal codes', isDefault: false, isConfirmed: false },
  STREET_ADDRESS: {
    singular: 'street address',
    plural: 'street addresses',
    isDefault: false,
    isConfirmed: false,
  },
  PERSON: { singular: 'name of a person', plural: 'names of persons', isDefault: false, isConfirmed: false },
  LOCATION: { singular: 'place name', plural: 'place names', isDefault: false, isConfirmed: false },
} as const satisfies Record<string, EntityRow>;

interface EntityRow {
  readonly singular: string;
  readonly plural: string;
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
    return [`${count} ${count === 1 ? entities[name].singular : entities[name].plural}`];
  });
  return new Intl.ListFormat('en', { type: 'conjunction' }).format(parts);
}
