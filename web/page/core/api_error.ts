/** A refusal: the Status that the server or the gateway answered, or that the request did not arrive (code 0). */
export class ApiError extends Error {
    constructor(readonly code: number, readonly reason: string, message: string) {
        super(message);
    }
}
