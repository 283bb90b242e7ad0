"""Everyday types in Pydantic 2, as applications give them to a model."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from ipaddress import IPv4Address, IPv6Address
from typing import Annotated, Any, Literal, NamedTuple, Optional, Union
from uuid import UUID

from pydantic import AnyUrl, AwareDatetime, BaseModel, ConfigDict, EmailStr, Field, HttpUrl, PositiveInt, StringConstraints
from pydantic.dataclasses import dataclass
from typing_extensions import TypedDict

Name = Annotated[str, StringConstraints(min_length=1, max_length=20)]
Zip = Annotated[str, StringConstraints(pattern=r"^\d{5}$")]


class Status(Enum):
    TODO = "todo"
    IN_PROGRESS = 'in "progress"'
    DONE = "done"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Address(BaseModel):
    street: Name
    zip: Zip
    city: Name


class User(BaseModel):
    """Somebody who orders."""

    name: Name
    age: Optional[Annotated[int, Field(ge=0, le=150)]] = None
    address: Address


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")
    id: UUID
    created_at: datetime


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    id: int


class Aliased(BaseModel):
    first_name: Name = Field(alias="First name", description="As in the passport", examples=["Ada"])
    score: float = Field(0.5, ge=0, le=1, title="Score")


class Category(BaseModel):
    name: Name
    children: Annotated[list[Category], Field(max_length=2)] = []


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: Annotated[int, Field(ge=1, le=9)]


class Dog(BaseModel):
    kind: Literal["dog"]
    breed: Name


Pet = Annotated[Union[Cat, Dog], Field(discriminator="kind")]


class Owner(BaseModel):
    pets: Annotated[list[Pet], Field(min_length=1, max_length=3)]


class Line(BaseModel):
    sku: Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}-\d{4}$")]
    quantity: PositiveInt
    price: Decimal


class Order(BaseModel):
    z_first: Literal["order"] = "order"
    lines: Annotated[list[Line], Field(min_length=1, max_length=3)]
    ordered_at: AwareDatetime
    note: Optional[Annotated[str, StringConstraints(max_length=40)]]


class Point(NamedTuple):
    x: float
    y: float


class Movie(TypedDict, total=False):
    title: Name
    year: int


@dataclass
class Rating:
    stars: Annotated[int, Field(ge=1, le=5)]
    text: Name = "good"


# By name, in the order of the reference.
PYDANTIC_TYPES: dict[str, Any] = {
    "email": EmailStr,
    "uuid": UUID,
    "datetime": datetime,
    "date": date,
    "time": time,
    "duration": timedelta,
    "url": AnyUrl,
    "http url": HttpUrl,
    "ipv4": IPv4Address,
    "ipv6": IPv6Address,
    "decimal": Decimal,
    "decimal of 2 places": Annotated[Decimal, Field(max_digits=6, decimal_places=2)],
    "integer": int,
    "integer from 1 to 5": Annotated[int, Field(ge=1, le=5)],
    "positive integer": PositiveInt,
    "number between": Annotated[float, Field(gt=0, lt=1)],
    "multiple of 5": Annotated[int, Field(multiple_of=5)],
    "multiple of 0.5": Annotated[float, Field(multiple_of=0.5, ge=0)],
    "text of 1 to 80": Annotated[str, StringConstraints(min_length=1, max_length=80)],
    "text without commas": Annotated[str, StringConstraints(pattern=r"^[^,]+$")],
    "path of Windows": Annotated[str, StringConstraints(pattern=r'^[A-Z]:\\[^\\/:*?"<>|]{1,20}$')],
    "text of a pattern and a length": Annotated[str, StringConstraints(pattern=r"^[^@ ]+$", max_length=10)],
    "enum": Status,
    "enum of integers": Level,
    "literal": Literal["red", "green", 3, None],
    "text or number": Union[Name, float],
    "optional text": Optional[Name],
    "boolean": bool,
    "user": User,
    "strict object": Strict,
    "open object": Open,
    "object with aliases": Aliased,
    "category": Category,
    "owner": Owner,
    "order": Order,
    "point": Point,
    "movie": Movie,
    "rating": Rating,
    "set of 3": Annotated[set[Literal["a", "b", "c", "d"]], Field(max_length=3)],
    "scores": dict[Annotated[str, StringConstraints(pattern="^[a-z]{1,8}$")], float],
    "hours by status": dict[Status, int],
}
