// apps/fluorescence/fresnel.cl - fresnel.hpp in OpenCL C: change both. layout.h comes before this text.

HR_FUNCTION float reflectance(const Side* side, float cosine, float* cosine_beyond) {
    *cosine_beyond = cosine;
    if (side->n_ratio == 1) return 0;
    const float a = side->n_ratio * cosine, square = a * a + side->beyond;
    if (!(square > 0)) return 1;
    const float b = sqrt(square), c = side->n_ratio * b;
    *cosine_beyond = fmax(b, side->least_refracted);
    const float s = (a - b) / (a + b), p = (c - cosine) / (c + cosine);
    return 0.5f * (s * s + p * p);
}

