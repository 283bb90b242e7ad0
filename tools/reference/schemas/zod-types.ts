import { z } from 'zod';

// Everyday types in zod 4, as applications give them to a model. Each getter and order of fields is part of the reference.

const address = z.object({
  street: z.string().min(1),
  zip: z.string().regex(/^\d{5}$/),
  city: z.string().min(1),
});

const category = z.object({
  name: z.string().max(20),
  get children() {
    return z.array(category).max(2);
  },
});

const cat = z.object({ kind: z.literal('cat'), lives: z.int().min(1).max(9) });
const dog = z.object({ kind: z.literal('dog'), breed: z.string().max(20) });

/** By name, in the order of the reference. */
export const ZOD_TYPES: Readonly<Record<string, z.ZodType>> = {
  email: z.email(),
  uuid: z.uuid(),
  datetime: z.iso.datetime(),
  'datetime with offset': z.iso.datetime({ offset: true }),
  date: z.iso.date(),
  time: z.iso.time(),
  duration: z.iso.duration(),
  url: z.url(),
  ipv4: z.ipv4(),
  ipv6: z.ipv6(),
  hostname: z.hostname(),
  'phone number': z.e164(),
  ulid: z.ulid(),
  slug: z.string().regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/),
  'text of 1 to 80': z.string().min(1).max(80),
  'text without commas': z.string().regex(/^[^,]+$/),
  'text that starts with': z.string().startsWith('https://'),
  'text that ends with': z.string().endsWith('.png'),
  'text that includes': z.string().includes('@'),
  'lower case': z.string().lowercase(),
  integer: z.int(),
  'integer from 1 to 5': z.int().min(1).max(5),
  'positive number': z.number().positive(),
  price: z.number().min(0).max(10_000).multipleOf(0.01),
  'multiple of 5': z.int().multipleOf(5),
  boolean: z.boolean(),
  enum: z.enum(['todo', 'in "progress"', 'done']),
  'literal numbers': z.literal([1, 2, 3]),
  'text or number': z.union([z.string().max(20), z.number()]),
  'nullable text': z.string().max(20).nullable(),
  pet: z.discriminatedUnion('kind', [cat, dog]),
  user: z.object({ name: z.string().max(20), age: z.int().min(0).max(150).optional(), address }),
  settings: z.object({ theme: z.enum(['light', 'dark']).default('light'), size: z.number().default(12) }),
  'strict object': z.strictObject({ id: z.uuid(), createdAt: z.iso.datetime() }),
  point: z.tuple([z.number(), z.number()]),
  'command line': z.tuple([z.string().max(20)]).rest(z.string().max(20)),
  tags: z.array(z.string().min(1).max(20)).min(1).max(5),
  scores: z.record(z.string().regex(/^[a-z]{1,8}$/), z.number()),
  'weekday hours': z.record(z.enum(['mon', 'tue', 'wed']), z.int().min(0).max(24)),
  category,
  'number with a unit': z.templateLiteral([z.int(), z.enum(['px', 'em', '%'])]),
};
