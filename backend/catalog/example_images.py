"""The pictures of vLLM's multi-image example, by address; give them to `--image`."""

_FOLDER = "https://vllm-public-assets.s3.us-west-2.amazonaws.com/multimodal_asset/"

EXAMPLE_IMAGE_URLS: tuple[str, ...] = (
    _FOLDER + "duck.jpg",
    _FOLDER + "lion.jpg",
    _FOLDER + "flycatcher.jpeg",
    _FOLDER + "somefish.jpg",
    _FOLDER + "starfish.jpg",
    _FOLDER + "snail.jpg",
    _FOLDER + "thistle.jpg",
    _FOLDER + "husky.jpg",
    _FOLDER + "orangetabbycat.jpg",
    _FOLDER + "guineapig.jpg",
    _FOLDER + "rabbit.jpg",
    _FOLDER + "horsepony.jpg",
)
"""In the example's order, in which `--num-images` of the example takes them."""
