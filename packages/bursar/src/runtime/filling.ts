/**
 * A value while it is filled in, for what is made with every call: to leave members out by spreading them or not takes several
 * times as long as to add those there are.
 */
export type Filling<Value> = { -readonly [Key in keyof Value]: Value[Key] };
